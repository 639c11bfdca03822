// Conversion of the caller's arrays to a CscMatrix. A pass over the entries checks every index and determines
// the order of the entries. If it is not that of CscMatrix, counting sorts by rows and by columns establish
// it; both are stable, so duplicates are summed in the caller's order. The result is the place of each entry,
// through which values are stored now and later.
#include "espalier/import.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/hermitian_diagonal.hpp"
#include "core/scalar.hpp"
#include "matrix/entries.hpp"
#include "matrix/spelled.hpp"
#include "matrix/view_entries.hpp"

namespace espalier {

namespace {

template <class T, class I> void check_triangle(MatrixArrays<T, I> const& view) {
    if (view.triangle == Triangle::full) return;
    bool const lower = view.triangle == Triangle::lower;
    for_each_view_entry(view, [&](Index row, Index column, Offset k) {
        if (lower ? row >= column : row <= column) return;
        reject_view(fmt::format(
            "entry {} at row {}, column {} (counted from {}) is {} the diagonal; expected only the {} "
            "triangle of a {} matrix",
            k + view.base, row + view.base, column + view.base, view.base, lower ? "above" : "below",
            lower ? "lower" : "upper", to_string(view.symmetry)));
    });
}

// The order of the entries of a view.
struct Order {
    bool as_stored = true;   // ascending by column, then row, and none is mirrored: no sort is needed
    bool rows_ascend = true; // only a sort by columns is needed
};

template <class T, class I> Order order_of(MatrixArrays<T, I> const& view) {
    Order order;
    Index last_row = -1, last_column = -1;
    bool const mirrors_apart = view.triangle == Triangle::full;
    for_each_target(view, [&](Index row, Index column, Offset k) {
        bool const after = column > last_column || (column == last_column && row > last_row);
        if (!after || (k < 0 && mirrors_apart)) order.as_stored = false;
        if (row < last_row) order.rows_ascend = false;
        last_row = row;
        last_column = column;
    });
    return order;
}

} // namespace

template <class T> template <class I> MatrixImport<T>::MatrixImport(MatrixArrays<T, I> const& view) {
    check_view_sizes(view);
    if (view.layout != Layout::coo) check_view_pointers(view);
    check_triangle(view);
    bool const symmetric = view.symmetry != Symmetry::general;
    matrix_.rows = view.rows;
    matrix_.cols = view.cols;
    matrix_.symmetry = symmetric && !is_complex<T> ? Symmetry::symmetric : view.symmetry;
    entries_ = std::ssize(view.values);
    base_ = view.base;
    upper_ = view.triangle == Triangle::upper;
    both_triangles_ = symmetric && view.triangle == Triangle::full;
    build_pattern(view);
    set_values(view.values);
}

template <class T> template <class I> void MatrixImport<T>::build_pattern(MatrixArrays<T, I> const& view) {
    Order const order = order_of(view);
    auto& col_ptr = matrix_.col_ptr;
    col_ptr.assign(view.cols + 1, 0);
    for_each_target(view, [&](Index, Index column, Offset) { ++col_ptr[column + 1]; });
    std::partial_sum(col_ptr.begin(), col_ptr.end(), col_ptr.begin());
    matrix_.row_ind.resize(view.values.size());
    if (order.as_stored) {
        for_each_target(view, [&](Index row, Index, Offset k) { matrix_.row_ind[k < 0 ? ~k : k] = row; });
        return;
    }
    std::vector<Offset> source(view.values.size()); // the entry at each position, or ~entry
    std::vector<Offset> next(col_ptr.begin(), col_ptr.end() - 1);
    auto const put = [&](Index row, Index column, Offset k) {
        Offset const p = next[column]++;
        matrix_.row_ind[p] = row;
        source[p] = k;
    };
    if (order.rows_ascend) {
        for_each_target(view, put);
    } else {
        // The entries sorted by row, in the caller's order within each row, with their numbers as values.
        auto const by_row =
            build_columns<Offset>(view.cols, view.rows, Symmetry::general, [&](auto const& put_in_row) {
                for_each_target(view, [&](Index row, Index column, Offset k) { put_in_row(column, row, k); });
            });
        for (Index row = 0; row < view.rows; ++row)
            for (Offset p : by_row.entries_of(row)) put(row, by_row.row_ind[p], by_row.values[p]);
    }
    merge_duplicates(source);
}

// Consecutive entries at one position share the place of the first.
template <class T> void MatrixImport<T>::merge_duplicates(std::vector<Offset> const& source) {
    place_.resize(source.size());
    Offset end = 0;
    for (Index j = 0; j < matrix_.cols; ++j) {
        Offset const first = std::exchange(matrix_.col_ptr[j], end);
        for (Offset p = first; p < matrix_.col_ptr[j + 1]; ++p) {
            Index const row = matrix_.row_ind[p];
            if (end == matrix_.col_ptr[j] || matrix_.row_ind[end - 1] != row) matrix_.row_ind[end++] = row;
            Offset const k = source[p] < 0 ? ~source[p] : source[p];
            place_[k] = source[p] < 0 && both_triangles_ ? ~(end - 1) : end - 1;
        }
    }
    matrix_.col_ptr.back() = end;
    matrix_.row_ind.resize(end);
}

template <class T> void MatrixImport<T>::set_values(std::span<T const> values) {
    if (std::ssize(values) != entries_)
        throw Error(Status::usage,
                    fmt::format("there are {} values; the pattern has {} entries", values.size(), entries_));
    for (Offset k = 0; k < entries_; ++k)
        if (!is_finite(values[k])) {
            Offset const place = place_.empty() ? k : place_[k];
            bool const nan = std::isnan(real_part(values[k])) || std::isnan(imag_part(values[k]));
            reject_view(fmt::format("value {} at {} is {}", k + base_,
                                    position(place < 0 ? ~place : place, place < 0),
                                    nan ? "NaN" : "infinite"));
        }
    std::vector<T> sums(matrix_.row_ind.size());
    if (both_triangles_)
        add_both_triangles(values, sums);
    else
        add_values(values, sums);
    check_sums(sums);
    matrix_.values = std::move(sums);
}

template <class T> std::vector<T> MatrixImport<T>::in_order_of_view(std::span<T const> of_stored) const {
    if (std::ssize(of_stored) != matrix_.stored())
        throw Error(Status::usage, fmt::format("there are {} numbers for {} stored entries", of_stored.size(),
                                               matrix_.stored()));
    bool const hermitian = matrix_.symmetry == Symmetry::hermitian;
    std::vector<T> result(entries_);
    for (Offset k = 0; k < entries_; ++k) {
        Offset const place = place_.empty() ? k : place_[k];
        bool const is_mirror_image = upper_ || place < 0;
        result[k] = conj_if(hermitian && is_mirror_image, of_stored[place < 0 ? ~place : place]);
    }
    return result;
}

template <class T> void MatrixImport<T>::add_values(std::span<T const> values, std::vector<T>& sums) const {
    if (place_.empty())
        std::copy(values.begin(), values.end(), sums.begin());
    else
        for (Offset k = 0; k < entries_; ++k) sums[place_[k]] += values[k];
    if (upper_ && matrix_.symmetry == Symmetry::hermitian)
        for (T& value : sums) value = conj(value);
}

// Sums the two triangles separately. They may differ by rounding errors relative to `size`, the sum of the
// moduli of the terms.
template <class T>
void MatrixImport<T>::add_both_triangles(std::span<T const> values, std::vector<T>& sums) const {
    bool const hermitian = matrix_.symmetry == Symmetry::hermitian;
    std::vector<T> mirrors(sums.size());
    std::vector<Real<T>> size(sums.size());
    for (Offset k = 0; k < entries_; ++k) {
        Offset const place = place_.empty() ? k : place_[k];
        Offset const p = place < 0 ? ~place : place;
        (place < 0 ? mirrors : sums)[p] += values[k];
        size[p] += abs1(values[k]);
    }
    for_each_entry(matrix_, [&](Index i, Index j, Offset p) {
        T const mirror = conj_if(hermitian, mirrors[p]);
        if (i != j && abs1(sums[p] - mirror) > 64 * epsilon<T> * size[p])
            reject_view(fmt::format("contradictory entries of a {} matrix: {} is {}, but {} is {}",
                                    to_string(matrix_.symmetry), position(p, false), spelled(sums[p]),
                                    position(p, true), spelled(mirrors[p])));
    });
}

// Rejects sums that overflow, and removes imaginary rounding errors from the diagonal of a Hermitian matrix.
template <class T> void MatrixImport<T>::check_sums(std::vector<T>& sums) const {
    bool const hermitian = matrix_.symmetry == Symmetry::hermitian;
    for_each_entry(matrix_, [&](Index i, Index j, Offset p) {
        if (!is_finite(sums[p]))
            reject_view(
                fmt::format("the sum of the entries at {} overflows the scalar type", position(p, false)));
        if (!hermitian || i != j || imag_part(sums[p]) == 0) return;
        if (!is_real_up_to_rounding(sums[p]))
            reject_view(fmt::format("the diagonal entry at {} of a Hermitian matrix has imaginary part {}",
                                    position(p, false), imag_part(sums[p])));
        sums[p] = real_part(sums[p]);
    });
}

template <class T> std::string MatrixImport<T>::position(Offset stored, bool mirrored) const {
    auto const& col_ptr = matrix_.col_ptr;
    // Only messages need the column of a position, so it is searched for here.
    Index column = std::upper_bound(col_ptr.begin(), col_ptr.end(), stored) - col_ptr.begin() - 1;
    Index row = matrix_.row_ind[stored];
    if (mirrored != upper_) std::swap(row, column);
    return fmt::format("row {}, column {} (counted from {})", row + base_, column + base_, base_);
}

ESPALIER_INSTANTIATE_CLASS(MatrixImport)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template ESPALIER_API MatrixImport<T>::MatrixImport(MatrixArrays<T, std::int32_t> const&);               \
    template ESPALIER_API MatrixImport<T>::MatrixImport(MatrixArrays<T, std::int64_t> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
