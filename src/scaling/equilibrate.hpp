// Scaling without a matching: each row and column gets a largest modulus of about 1. Input: a matrix; output:
// a scale for each row and column. Follows Ruiz 2001 (simultaneous scaling in the infinity norm), which keeps
// symmetry.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

struct Scaling {
    std::vector<double> row_scale;    ///< r_i, the factor of row i.
    std::vector<double> column_scale; ///< c_j, the factor of column j.
};

/// Computes scales that are powers of two between 2^-1000 and 2^1000, so applying them is exact. In
/// diag(r) A diag(c) the largest modulus of each row and column is between 1/4 and 4, unless the range or the
/// limit of 12 sweeps prevents it. r = c for a symmetric or Hermitian matrix. Scales of zero rows and columns
/// are 1. Linear time per sweep. Throws Error{bad_input} with the position of a NaN or Inf.
template <class T> Scaling equilibrate(CscMatrix<T> const& a);

} // namespace espalier
