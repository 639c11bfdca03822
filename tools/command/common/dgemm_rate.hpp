// How fast one core multiplies: the yardstick of other speeds.
#pragma once

#include <limits>

#include "espalier/types.hpp"

namespace espalier::command {

struct DgemmRate {
    Index order = 0;
    double best_s = std::numeric_limits<double>::infinity();
    [[nodiscard]] double gflops() const {
        auto const n = static_cast<double>(order);
        return 2 * n * n * n / best_s / 1e9;
    }
};

/// C = A B on one core: the best of several products, for so many seconds or three products. Leaves BLAS on
/// one thread.
DgemmRate measure_dgemm(Index order, double seconds = 0.5);

} // namespace espalier::command
