// The Schur complement after a factorization with kept cblks, as one dense matrix.
//
//     [ A_ii  A_is ]      S = A_ss - A_si A_ii^-1 A_is
//     [ A_si  A_ss ]
#pragma once

#include <span>
#include <vector>

#include "espalier/matrix.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// Returns S, k x k with both triangles. Its rows and columns are in the order of `unknowns`, which are all
/// kept rows of the factorized matrix, in its numbering before the permutation, each once. With several
/// processes only process 0 has the kept panels and calls this. Error{usage} if `unknowns` are not the kept
/// ones.
template <class T> DenseMatrix<T> schur_complement(Factor<T> const& factor, std::span<Index const> unknowns);

/// Returns S v for a vector in the same order, without a copy of S. Also called on process 0 only.
template <class T>
std::vector<T> schur_product(Factor<T> const& factor, std::span<Index const> unknowns, std::span<T const> v);

} // namespace espalier
