// The largest entry of a column in terms of |Re| + |Im|, for pivot searches.
#pragma once

#include "core/scalar.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// A position and its size.
template <class T> struct LargestEntry {
    Index index = -1;  ///< The first largest entry; -1 if all are zero or NaN.
    Real<T> value = 0; ///< Its |Re| + |Im|.
};

/// The largest entry of x[0 .. n). NaN entries are ignored.
template <class T> LargestEntry<T> largest_entry(T const* x, Index n);
/// Its size alone.
template <class T> Real<T> largest_size(T const* x, Index n);
/// The largest size in a block.
template <class T> Real<T> largest_size_in(MatrixView<T const> block);

} // namespace espalier
