// Prefetches of the columns of a matrix in the order of the elimination, which is not the order of memory.
#pragma once

#include <algorithm>

#include "espalier/espalier.hpp"
#include "simplicial/block_triangular.hpp"

namespace espalier {

/// Fetches the first entries of a column that is eliminated a few columns after column k, and the place of a
/// later one. Returns the place of these entries. The function is inlined, because GCC removes calls of
/// functions that only prefetch.
template <class T> [[gnu::always_inline]] inline Offset
prefetch_column(CscMatrix<T> const& a, BlockTriangularForm const& form, std::int32_t k) {
    constexpr std::int32_t near = 8, far = 16;
    auto const last = static_cast<std::int32_t>(form.column.size()) - 1;
    __builtin_prefetch(&a.col_ptr[form.column[std::min(k + far, last)]]);
    Offset const p = a.col_ptr[form.column[std::min(k + near, last)]];
    __builtin_prefetch(a.row_ind.data() + p);
    __builtin_prefetch(a.values.data() + p);
    return p;
}

} // namespace espalier
