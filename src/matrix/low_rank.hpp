// Sums of a sparse matrix and a term of low rank with few entries.
#pragma once

#include "espalier/matrix.hpp"

namespace espalier {

/// The number of products in W W^H, or in its lower triangle unless `symmetry` is general, before those of the same entry
/// are summed. A double, because it may be larger than any index.
template <class T> double count_products(CscMatrix<T> const& w, Symmetry symmetry);

/// sign W W^H on the pattern of its products, with this symmetry: W W^T if it is symmetric.
template <class T> CscMatrix<T> outer_product(CscMatrix<T> const& w, int sign, Symmetry symmetry);

/// A := A + S for matrices of the same size and symmetry, on the union of their patterns. Returns whether that is the
/// pattern of A. If an exception is thrown, A is as before.
template <class T> bool add_entries(CscMatrix<T>& a, CscMatrix<T> const& s);

} // namespace espalier
