// The part of a distributed matrix that one process has, and sums over its entries (internal).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "core/buffer.hpp"
#include "distributed/deal.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/halo.hpp"
#include "distributed/parallel_product.hpp"
#include "kernels/vector.hpp"
#include "matrix/spmv.hpp"
#include "runtime/workspace.hpp"
#include "scaling/scaled_value.hpp"

namespace espalier {

// Returns value times the factor of row i. Without factors these are ones.
template <class V> ESPALIER_INLINE V times_factor(std::vector<double> const& factors, Index i, V value) {
    return factors.empty() ? value : scaled_value(value, factors[i]);
}

// Returns value divided by the factor of row i, a power of two.
template <class V> ESPALIER_INLINE V divided_by_factor(std::vector<double> const& factors, Index i, V value) {
    return factors.empty() ? value : scaled_value(value, 1 / factors[i]);
}

template <class T> struct DistributedMatrix<T>::Part {
    CscMatrix<T> own;
    CscMatrix<T> const* entries = &own;
    Halo halo;
    std::optional<Owners> owners;              // if there are several processes
    std::optional<ParallelProduct<T>> product; // once one was needed

    // Workspace: one column of x and y with their remote rows, the remote rows of all columns, and one column
    // of sums. Sizes are bytes for each row.
    Buffer x, imported, exported, sums;
    Workspace y;
    std::size_t reserved[3] = {};

    void reserve(DistributedRows const& rows, std::size_t x_bytes, std::size_t y_bytes, Index columns,
                 int copies) {
        std::size_t const wanted[3] = {x_bytes, y_bytes * copies, std::max(x_bytes, y_bytes) * columns};
        if (std::equal(wanted, wanted + 3, reserved, std::less_equal<>())) return;
        rows.reduction().all_succeed([&] {
            x.grow(wanted[0] * entries->rows);
            y.grow(wanted[1] * entries->rows);
            imported.grow(wanted[2] * halo.size());
            exported.grow(wanted[2] * halo.size());
        });
        halo.reserve(wanted[2]);
        for (int k = 0; k < 3; ++k) reserved[k] = std::max(reserved[k], wanted[k]);
    }
};

template <class T> CscMatrix<T> const& DistributedMatrix<T>::local() const {
    return *part_->entries;
}

template <class T>
void DistributedMatrix<T>::require_block(char const* what, std::size_t size, Index columns) const {
    require_block_size(what, size, rows().count(), columns);
}

// Does the following for each of `columns` columns. Collects the values of `x` at the local rows and, if
// op(A) reads them, at the remote rows. Calls kernel(x, y), which adds to zeros at local and remote rows.
// Then calls add(row, column, y) for local rows and for the contributions of other processes. `copies` is the
// number of such y for which there is memory; the kernel may use the copies after the first for any purpose.
template <class T> template <class X, class Y, class Value, class Kernel, class Add>
void DistributedMatrix<T>::accumulate(MatrixOp op, Index columns, Value const& value, Kernel const& kernel,
                                      Add const& add, int copies) const {
    Part& part = *part_;
    Index const m = rows().count(), h = part.halo.size();
    part.reserve(rows(), sizeof(X), sizeof(Y), columns, copies);
    bool const imports = is_mirrored() || op != MatrixOp::none;
    bool const exports = is_mirrored() || op == MatrixOp::none;
    X* const x = part.x.template as<X>();
    Y* const y = part.y.template as<Y>();
    X* const imported = part.imported.template as<X>();
    Y* const exported = part.exported.template as<Y>();
    if (imports && part.halo.is_needed()) part.halo.import_values(imported, columns, value);
    for (Index c = 0; c < columns; ++c) {
        for (Index i = 0; i < m; ++i) x[i] = value(i, c);
        if (imports) std::copy_n(imported + c * h, h, x + m);
        std::fill_n(y, m + h, Y());
        kernel(x, y);
        for (Index i = 0; i < m; ++i) add(i, c, y[i]);
        if (exports) std::copy_n(y + m, h, exported + c * h);
    }
    if (exports && part.halo.is_needed()) part.halo.export_values(exported, columns, add);
}

} // namespace espalier
