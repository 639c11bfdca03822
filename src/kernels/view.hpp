// A column-major window on memory that someone else owns.
#pragma once

#include "espalier/types.hpp"

namespace espalier {

template <class T> struct MatrixView {
    T* data = nullptr;
    Index rows = 0;
    Index cols = 0;
    Index ld = 0; ///< Distance between columns, >= rows.

    T& operator()(Index i, Index j) const { return data[i + j * ld]; }
    [[nodiscard]] T* column(Index j) const { return data + j * ld; }
    /// Rows [i, i + m), columns [j, j + n).
    [[nodiscard]] MatrixView block(Index i, Index j, Index m, Index n) const {
        return {data + i + j * ld, m, n, ld};
    }
    operator MatrixView<T const>() const { return {data, rows, cols, ld}; }
};

} // namespace espalier
