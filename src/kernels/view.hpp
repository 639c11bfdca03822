// Column-major views of memory owned by the caller.
#pragma once

#include "espalier/types.hpp"

namespace espalier {

/// A dense matrix in memory of the caller.
template <class T> struct MatrixView {
    T* data = nullptr; ///< Entry (0, 0).
    Index rows = 0;    ///< Number of rows.
    Index cols = 0;    ///< Number of columns.
    Index ld = 0;      ///< Distance between columns, >= rows.

    /// Entry (i, j).
    T& operator()(Index i, Index j) const { return data[i + j * ld]; }
    /// The first entry of column j.
    [[nodiscard]] T* column(Index j) const { return data + j * ld; }
    /// The block of rows [i, i + m) and columns [j, j + n).
    [[nodiscard]] MatrixView block(Index i, Index j, Index m, Index n) const {
        return {data + i + j * ld, m, n, ld};
    }
    operator MatrixView<T const>() const { return {data, rows, cols, ld}; }
};

} // namespace espalier
