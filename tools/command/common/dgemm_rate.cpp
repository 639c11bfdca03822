#include "dgemm_rate.hpp"

#include <algorithm>
#include <vector>

#include "core/timer.hpp"
#include "kernels/blas.hpp"

namespace espalier::command {

DgemmRate measure_dgemm(Index order, double seconds) {
    auto const entries = static_cast<std::size_t>(order) * static_cast<std::size_t>(order);
    std::vector<double> const a(entries, 0.5);
    std::vector<double> const b(entries, 0.25);
    std::vector<double> c(entries);
    set_blas_threads(1);
    DgemmRate rate{order};
    Timer whole;
    for (int run = 0; run < 4 || whole.seconds() < seconds; ++run) {
        Timer timer;
        gemm<double>(Op::none, Op::none, 1.0, {a.data(), order, order, order},
                     {b.data(), order, order, order}, 0.0, {c.data(), order, order, order});
        if (run > 0) rate.best_s = std::min(rate.best_s, timer.seconds()); // the first warms up
    }
    return rate;
}

} // namespace espalier::command
