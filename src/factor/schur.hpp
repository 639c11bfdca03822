// The Schur complement after a factorization with kept cblks. In: a finished factor. Out: one dense matrix.
//
//     [ A_ii  A_is ]      S = A_ss - A_si A_ii^-1 A_is
//     [ A_si  A_ss ]
#pragma once

#include <span>
#include <vector>

#include "espalier/matrix.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// S, k x k with both triangles, with rows and columns in the order of `unknowns`: all kept rows of the
/// factorized matrix, in its numbering before the permutation, each once. With several processes only process
/// 0 has the kept panels and calls this. Error{usage} when `unknowns` are not the kept ones.
template <class T> DenseMatrix<T> schur_complement(Factor<T> const& factor, std::span<Index const> unknowns);

/// S v for a vector in the same order, without a copy of S. Likewise on process 0.
template <class T> std::vector<T> schur_product(Factor<T> const& factor, std::span<Index const> unknowns,
                                                std::span<T const> v);

} // namespace espalier
