// The Schur complement that a factorization with kept cblks leaves. In: a finished factor. Out: one dense
// matrix.
//
//     [ A_ii  A_is ]      S = A_ss - A_si A_ii^-1 A_is
//     [ A_si  A_ss ]
#pragma once

#include <span>

#include "espalier/matrix.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// S with its rows and columns in the order of `unknowns`: all the kept rows of the matrix that was
/// factorized, in its numbering before structure.perm, each once. k x k, both triangles also when S is
/// symmetric. Error{usage} when `unknowns` are not the kept ones.
template <class T> DenseMatrix<T> schur_complement(Factor<T> const& factor, std::span<Index const> unknowns);

} // namespace espalier
