// The accuracy of the factors of a tiled matrix, estimated by random vectors in O(n^2) operations: for x with
// random entries +-1, the mean of |E x|^2 is the squared Frobenius norm of E.
#pragma once

#include <optional>

#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

struct DenseAccuracy {
    double backward_error = 0;           ///< |A - L L^T| / |A|, or |A - Q R| / |A|.
    std::optional<double> orthogonality; ///< |I - Q^T Q| / sqrt(n), for QR.

    /// Whether both are at most `tolerance`; false for NaN.
    [[nodiscard]] bool within(double tolerance) const {
        return backward_error <= tolerance && orthogonality.value_or(0) <= tolerance;
    }
};

DenseAccuracy measure_accuracy(TiledMatrix const& factors);

} // namespace espalier
