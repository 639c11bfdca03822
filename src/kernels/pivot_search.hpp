// The largest entry of a column, by |Re| + |Im|: what every pivot search asks for.
#pragma once

#include "core/scalar.hpp"

namespace espalier {

template <class T> struct LargestEntry {
    Index index = -1;  ///< The first of the largest; -1 where all are zero or NaN.
    Real<T> value = 0; ///< Its |Re| + |Im|.
};

/// Of x[0 .. n). NaN is passed over.
template <class T> LargestEntry<T> largest_entry(T const* x, Index n);

} // namespace espalier
