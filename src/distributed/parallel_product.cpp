#include "distributed/parallel_product.hpp"

#include <algorithm>

#include "core/scalar.hpp"
#include "matrix/column_shares.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

namespace {

constexpr int most_parts = 8;

// Consecutive columns, and the smallest range of rows that contains the rows of their entries and of their
// numbers.
struct ColumnsAndRows {
    IndexRange columns, rows;
};

std::vector<ColumnsAndRows> divide(int count, std::span<Offset const> col_ptr,
                                   std::span<Index const> row_ind) {
    std::vector<ColumnsAndRows> parts(count);
    Index begin = 0;
    for (int p = 0; p < count; ++p) {
        Index const end = first_of_share(col_ptr, p + 1, count);
        IndexRange rows{begin, end};
        for (Index const i : row_ind.subspan(col_ptr[begin], col_ptr[end] - col_ptr[begin]))
            rows = {std::min(rows.first, i), std::max(rows.last, i + 1)};
        parts[p] = {{begin, end}, rows};
        begin = end;
    }
    return parts;
}

// Joins the parts 2 k and 2 k + 1.
void join_pairs(std::vector<ColumnsAndRows>& parts) {
    for (std::size_t k = 0; k < parts.size() / 2; ++k) {
        auto const &one = parts[2 * k], &two = parts[2 * k + 1];
        parts[k] = {{one.columns.first, two.columns.last},
                    {std::min(one.rows.first, two.rows.first), std::max(one.rows.last, two.rows.last)}};
    }
    parts.resize(parts.size() / 2);
}

// The range of the rows whose numbers are not those of the columns. If there are such rows before and after
// them, the range contains the rows in between as well.
IndexRange rows_outside(ColumnsAndRows const& part) {
    bool const before = part.rows.first < part.columns.first, after = part.columns.last < part.rows.last;
    if (!before && !after) return {};
    return {before ? part.rows.first : part.columns.last, after ? part.rows.last : part.columns.first};
}

// Returns the columns around the middle one that have all their entries in rows of the part.
IndexRange inner_columns(IndexRange columns, std::span<Offset const> col_ptr,
                         std::span<Index const> row_ind) {
    auto const is_inner = [&](Index j) {
        return std::ranges::all_of(row_ind.subspan(col_ptr[j], col_ptr[j + 1] - col_ptr[j]),
                                   [&](Index i) { return columns.first <= i && i < columns.last; });
    };
    Index const middle = columns.first + columns.size() / 2;
    IndexRange inner{middle, middle};
    while (inner.first > columns.first && is_inner(inner.first - 1)) --inner.first;
    while (inner.last < columns.last && is_inner(inner.last)) ++inner.last;
    return inner;
}

template <class Body> void for_each_outside(ColumnPart const& part, IndexRange rows, Body const& body) {
    Index const first = std::max(rows.first, part.touched.first),
                last = std::min(rows.last, part.touched.last);
    for (Index i = first; i < std::min(last, part.columns.first); ++i) body(i);
    for (Index i = std::max(first, part.columns.last); i < last; ++i) body(i);
}

} // namespace

std::vector<ColumnPart> column_parts(std::span<Offset const> col_ptr, std::span<Index const> row_ind) {
    // The sums of a row outside are set to zero, added to and read; an entry of the matrix is only read.
    constexpr Offset entries_for_a_row = 8;
    int count = most_parts;
    while (count > 1 && col_ptr.back() < count / 2 * least_parallel_entries) count /= 2;
    for (auto parts = divide(count, col_ptr, row_ind);; join_pairs(parts)) {
        std::vector<ColumnPart> result;
        Offset outside = 0;
        for (ColumnsAndRows const& part : parts) {
            result.push_back({part.columns, rows_outside(part), {}});
            outside += result.back().touched.size();
        }
        if (parts.size() > 1 && outside * entries_for_a_row > col_ptr.back()) continue;
        for (ColumnPart& part : result) part.inner = inner_columns(part.columns, col_ptr, row_ind);
        return result;
    }
}

template <class T> ParallelProduct<T>::ParallelProduct(CscMatrix<T> const& a)
    : parts_(column_parts(a.col_ptr, a.row_ind)) {
    Offset end = 0;
    for (ColumnPart const& part : parts_) {
        begin_.push_back(end);
        if (parts_.size() > 1) end += part.touched.size();
    }
    sums_.grow(sizeof(T) * end);
}

template <class T> void ParallelProduct<T>::run(MatrixOp op, T alpha, CscMatrix<T> const& a, T const* x,
                                                T beta, T* y, RowWorkers const& workers) {
    int const count = static_cast<int>(parts_.size());
    bool const scatters = a.symmetry != Symmetry::general || op == MatrixOp::none;
    workers.run(count, [&](int p) {
        ColumnPart const& part = parts_[p];
        Index const end =
            p + 1 == count ? a.rows : part.columns.last; // the last one has the remote rows, too
        scale_block(beta, std::span<T>(y + part.columns.first, end - part.columns.first));
        if (count == 1) return add_product(op, alpha, a, part.columns, x, y);
        T* const sums = others(p);
        if (scatters) for_each_outside(part, {0, a.rows}, [&](Index i) { sums[i] = T(0); });
        add_product<T>(op, alpha, a, {part.columns.first, part.inner.first}, x, {y, part.columns, sums});
        add_product<T>(op, alpha, a, part.inner, x, y);
        add_product<T>(op, alpha, a, {part.inner.last, part.columns.last}, x, {y, part.columns, sums});
    });
    if (count == 1 || !scatters) return;
    workers.run(count, [&](int p) {
        IndexRange const rows{parts_[p].columns.first, p + 1 == count ? a.rows : parts_[p].columns.last};
        for (int q = 0; q < count; ++q)
            for_each_outside(parts_[q], rows, [&, sums = others(q)](Index i) { y[i] += sums[i]; });
    });
}

ESPALIER_INSTANTIATE_CLASS(ParallelProduct)

} // namespace espalier
