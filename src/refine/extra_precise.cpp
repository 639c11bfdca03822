#include "refine/extra_precise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/scalar.hpp"
#include "matrix/norms.hpp"

namespace espalier {

template <class T> int refine_extra_precisely(DistributedMatrix<T> const& a, std::span<T const> all_b,
                                              std::span<T> all_x, Index nrhs,
                                              ApplyInverse<T> const& apply_inverse, MatrixOp op,
                                              Interrupt* interrupt) {
    constexpr int max_corrections = 60; // at a rate of 1/2, one for each bit
    Index const n = a.rows().count();
    std::vector<T> start, correction;
    // Returns the number of corrections of a column.
    auto const correct = [&](std::span<T const> b, std::span<T> x) {
        a.rows().reduction().all_succeed([&] {
            start.assign(x.begin(), x.end());
            correction.resize(x.size());
        });
        double before = infinity;
        for (int step = 0; step < max_corrections; ++step) {
            a.accurate_residual({x}, b, correction, op);
            apply_inverse(correction, 1, op);
            auto const norms = a.rows().reduction().max(2, [&](std::span<double> largest) {
                check(interrupt);
                largest[0] = infinity_norm<T>(std::span<T const>(correction));
                largest[1] = infinity_norm<T>(std::span<T const>(x));
            });
            double const size = norms[0], solution = norms[1];
            // The first correction must be smaller than x itself.
            double const bound = step == 0 ? solution / 2 : before / 2;
            if (!(size <= bound)) {
                // If the corrections stagnate far from convergence, they are useless.
                if (before > static_cast<double>(epsilon<T>) * 8 * solution)
                    std::ranges::copy(start, x.begin());
                return step;
            }
            for (Index i = 0; i < std::ssize(x); ++i) x[i] += correction[i];
            before = size;
            if (size <= static_cast<double>(epsilon<T>) / 2 * solution) return step + 1;
        }
        return max_corrections;
    };
    int steps = 0;
    for (Index j = 0; j < nrhs; ++j)
        steps = std::max(steps, correct(all_b.subspan(j * n, n), all_x.subspan(j * n, n)));
    return steps;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template int refine_extra_precisely<T>(DistributedMatrix<T> const&, std::span<T const>, std::span<T>,    \
                                           Index, ApplyInverse<T> const&, MatrixOp, Interrupt*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
