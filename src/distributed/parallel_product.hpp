// Products of a sparse matrix with a vector, whose columns are multiplied in parts by several workers. A part
// adds to the rows with the numbers of its columns directly. For the other rows that its entries touch it has
// sums of its own, which are added in the end. The parts depend on the pattern alone, and so does the
// rounding.
#pragma once

#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "distributed/row_workers.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Consecutive columns of a matrix.
struct ColumnPart {
    IndexRange columns;
    IndexRange touched; ///< The range of the rows of entries outside `columns`; empty if there are none.
    IndexRange inner;   ///< Columns in the middle that have no entries in such rows.
};

/// Matrices with fewer stored entries are not divided.
inline constexpr Offset least_parallel_entries = 400'000;

/// Divides the columns into at most 8 parts with about as many stored entries each: a single one if the
/// matrix is small or if the sums of other rows would take much time.
[[nodiscard]] std::vector<ColumnPart> column_parts(std::span<Offset const> col_ptr,
                                                   std::span<Index const> row_ind);

template <class T> class ParallelProduct {
  public:
    /// Divides the columns of `a`. Throws std::bad_alloc.
    explicit ParallelProduct(CscMatrix<T> const& a);

    /// y := beta y + alpha op(A) x for vectors with as many entries as A has rows, which are not fewer than
    /// the columns. `a` has the pattern of the constructor's matrix. y is not read if beta is 0. Neither
    /// throws nor allocates memory.
    void run(MatrixOp op, T alpha, CscMatrix<T> const& a, T const* x, T beta, T* y,
             RowWorkers const& workers);

  private:
    // The sums of a part for rows outside its columns, indexed by row.
    [[nodiscard]] T* others(int part) const {
        return sums_.template as<T>() + begin_[part] - parts_[part].touched.first;
    }

    std::vector<ColumnPart> parts_;
    std::vector<Offset> begin_; // of the sums of each part
    Buffer sums_;
};

} // namespace espalier
