// Scaling without a matching: rows and columns of largest modulus about 1. In: a matrix; out: a scale for
// each row and column. Ruiz 2001 (simultaneous scaling in the infinity norm), which keeps symmetry.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

struct Scaling {
    std::vector<double> row_scale;    ///< r: multiply row i by r_i,
    std::vector<double> column_scale; ///< and column j by c_j.
};

/// Powers of two, so that applying them rounds nothing, between 2^-1000 and 2^1000. In diag(r) A diag(c) the
/// largest modulus of each row and column is between 1/4 and 4 (unless clamping, or a dozen sweeps, do not
/// suffice). For a symmetric or Hermitian matrix r = c. Scales of rows and columns of zeros are 1. Linear
/// time. Error{bad_input} with the place of a NaN or Inf.
template <class T> Scaling equilibrate(CscMatrix<T> const& a);

} // namespace espalier
