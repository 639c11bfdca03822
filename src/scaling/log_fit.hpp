// Scales that bring all entries of a matrix close to 1 in the sense of least squares: Curtis, Reid 1972, "On
// the automatic scaling of matrices for Gaussian elimination".
#pragma once

#include <vector>

#include "espalier/matrix.hpp"

namespace espalier {

struct LogFit {
    std::vector<float> rows, columns; ///< Logarithms of the scales.
    double deviation = 0;             ///< Root mean square of the logarithms of the scaled entries.
};

/// Minimizes the sum of (log |a_ij| + r_i + c_j)^2 over the nonzero entries, with a few steps of conjugate
/// gradients. `logs` has log |a_ij| for the stored entries of `a`, which has general storage, and -infinity
/// for zeros. Starts from the given scales of the columns: a factor that goes from all rows to all columns of
/// a connected part is as in these. Logarithms have base 2; the result is accurate to a fraction of 1.
template <class T> LogFit fit_logarithms(CscMatrix<T> const& a, std::vector<float> const& logs,
                                         std::vector<float> const& columns);

} // namespace espalier
