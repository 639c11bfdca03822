#include "refine/extra_precise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/scalar.hpp"
#include "matrix/norms.hpp"
#include "refine/accurate_residual.hpp"

namespace espalier {

namespace {

constexpr int max_corrections = 60; // at a rate of 1/2, as many as there are bits

template <class T> class Column {
  public:
    Column(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x, ApplyInverse<T> const& apply_inverse,
           MatrixOp op)
        : a_(a), b_(b), x_(x), start_(x.begin(), x.end()), apply_inverse_(apply_inverse), op_(op),
          correction_(x.size()) {}

    int run(Interrupt* interrupt) {
        double before = std::numeric_limits<double>::infinity();
        for (int step = 0; step < max_corrections; ++step) {
            check(interrupt);
            accurate_residual<T>(a_, x_, {}, b_, correction_, op_);
            apply_inverse_(correction_, 1, op_);
            double const size = infinity_norm<T>(std::span<T const>(correction_));
            double const solution = infinity_norm<T>(std::span<T const>(x_));
            // The first one is to be smaller than x itself.
            double const bound = step == 0 ? solution / 2 : before / 2;
            if (!(size <= bound)) {
                if (before > static_cast<double>(epsilon<T>) * 8 * solution) take_back();
                return step;
            }
            for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += correction_[i];
            before = size;
            if (size <= static_cast<double>(epsilon<T>) / 2 * solution) return step + 1;
        }
        return max_corrections;
    }

  private:
    // Stagnation far from convergence says that the corrections meant nothing.
    void take_back() { std::copy(start_.begin(), start_.end(), x_.begin()); }

    CscMatrix<T> const& a_;
    std::span<T const> b_;
    std::span<T> x_;
    std::vector<T> const start_;
    ApplyInverse<T> const& apply_inverse_;
    MatrixOp op_;
    std::vector<T> correction_;
};

} // namespace

template <class T> int refine_extra_precisely(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                              Index nrhs, ApplyInverse<T> const& apply_inverse, MatrixOp op,
                                              Interrupt* interrupt) {
    auto const n = static_cast<std::size_t>(a.cols);
    int steps = 0;
    for (Index j = 0; j < nrhs; ++j)
        steps = std::max(
            steps, Column<T>(a, b.subspan(j * n, n), x.subspan(j * n, n), apply_inverse, op).run(interrupt));
    return steps;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template int refine_extra_precisely<T>(CscMatrix<T> const&, std::span<T const>, std::span<T>, Index,     \
                                           ApplyInverse<T> const&, MatrixOp, Interrupt*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
