// The speed of a matrix product on one core, as a reference for other speeds.
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

/// Measures C = A B on one core for `seconds`, but at least three products; the best one counts. Sets BLAS to
/// one thread.
DgemmRate measure_dgemm(Index order, double seconds = 0.5);

} // namespace espalier::command
