#include "refine/extra_precise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/scalar.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

namespace {

constexpr int max_corrections = 60; // at a rate of 1/2, one for each bit

template <class T> class Column {
  public:
    Column(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse, MatrixOp op,
           Interrupt* interrupt)
        : a_(a), apply_inverse_(apply_inverse), op_(op), interrupt_(interrupt) {}

    int run(std::span<T const> b, std::span<T> x) {
        a_.rows().reduction().all_succeed([&] {
            start_.assign(x.begin(), x.end());
            correction_.resize(x.size());
        });
        double before = infinity;
        for (int step = 0; step < max_corrections; ++step) {
            a_.accurate_residual({x}, b, correction_, op_);
            apply_inverse_(correction_, 1, op_);
            auto const norms = a_.rows().reduction().max(2, [&](std::span<double> largest) {
                check(interrupt_);
                largest[0] = infinity_norm<T>(std::span<T const>(correction_));
                largest[1] = infinity_norm<T>(std::span<T const>(x));
            });
            double const size = norms[0], solution = norms[1];
            // The first correction must be smaller than x itself.
            double const bound = step == 0 ? solution / 2 : before / 2;
            if (!(size <= bound)) {
                // If the corrections stagnate far from convergence, they are useless.
                if (before > static_cast<double>(epsilon<T>) * 8 * solution)
                    std::ranges::copy(start_, x.begin());
                return step;
            }
            for (Index i = 0; i < std::ssize(x); ++i) x[i] += correction_[i];
            before = size;
            if (size <= static_cast<double>(epsilon<T>) / 2 * solution) return step + 1;
        }
        return max_corrections;
    }

  private:
    DistributedMatrix<T> const& a_;
    ApplyInverse<T> const& apply_inverse_;
    MatrixOp op_;
    Interrupt* interrupt_;
    std::vector<T> start_, correction_;
};

} // namespace

template <class T>
int refine_extra_precisely(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x, Index nrhs,
                           ApplyInverse<T> const& apply_inverse, MatrixOp op, Interrupt* interrupt) {
    Index const n = a.rows().count();
    Column<T> column(a, apply_inverse, op, interrupt);
    int steps = 0;
    for (Index j = 0; j < nrhs; ++j)
        steps = std::max(steps, column.run(b.subspan(j * n, n), x.subspan(j * n, n)));
    return steps;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template int refine_extra_precisely<T>(DistributedMatrix<T> const&, std::span<T const>, std::span<T>,    \
                                           Index, ApplyInverse<T> const&, MatrixOp, Interrupt*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
