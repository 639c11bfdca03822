// Large entries onto the diagonal: a maximum-product matching of rows to columns and the scaling that comes
// with it. In: a square matrix; out: the row to bring to each column's diagonal place, and scales under which
// these entries have modulus 1 and no other is larger. Duff and Koster 2001 (what MC64 computes).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "scaling/scaled_value.hpp"

namespace espalier {

struct Matching {
    std::vector<Index> row_of_column; ///< Row matched to each column, -1 if none. No row appears twice.
    std::vector<double> row_scale; ///< r: with c = column_scale, |r_i a_ij c_j| <= 1 everywhere, and = 1 on
    std::vector<double>
        column_scale;          ///< the matching, up to rounding. Each finite, positive, 2^-1000 .. 2^1000.
    Index structural_rank = 0; ///< Matched columns; no matching has more.
};

/// The matching that maximises the product of the matched moduli, explicit zeros never being matched. Works
/// on the whole matrix also when a triangle is stored. Of a structurally singular matrix: some matching of
/// the largest size, of maximal product among those of the same rows and columns; the largest scaled entry
/// of an unmatched row or column is 1; scales of empty ones are 1. When a scale would leave its range it is
/// clamped, and then entries of that row or column may exceed 1. Near-linear time in practice.
/// Error{bad_input}: not square; a NaN or Inf, with its place. Error{cancelled} by `interrupt`.
template <class T> Matching maximum_product_matching(CscMatrix<T> const& a, Interrupt* interrupt = nullptr);

/// s_i = sqrt(r_i c_i): for a symmetric or Hermitian matrix |s_i a_ij s_j| <= 1, and = 1 on the matching
/// (Duff and Pralet 2005).
std::vector<double> symmetric_scaling(Matching const& matching);

} // namespace espalier
