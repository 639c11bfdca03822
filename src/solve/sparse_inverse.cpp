#include "solve/sparse_inverse.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/inverse_permutation.hpp"
#include "core/scalar.hpp"
#include "matrix/convert.hpp"

namespace espalier {

namespace {

template <class T> T stored_or_zero(CscMatrix<T> const& a, Index i, Index j) {
    for (Offset const p : a.entries_of(j))
        if (a.row_ind[p] == i) return a.values[p];
    return T(0);
}

// Divides the columns of the L of L L^H by their diagonal entries, and returns the squares of these as D.
template <class T> CscMatrix<T> split_diagonal(CscMatrix<T>& lower) {
    CscMatrix<T> diagonal{lower.rows, lower.cols, Symmetry::general, {0}, {}, {}};
    for (Index j = 0; j < lower.cols; ++j) {
        T const root = lower.values[lower.col_ptr[j]];
        for (Offset const p : lower.entries_of(j)) lower.values[p] /= root;
        diagonal.row_ind.push_back(j);
        diagonal.values.push_back(root * root);
        diagonal.col_ptr.push_back(j + 1);
    }
    return diagonal;
}

} // namespace

template <class T> SparseInverse<T>::SparseInverse(Factors<T> factors, bool conjugate, Interrupt* interrupt)
    : lower_(std::move(factors.lower)), conjugate_(conjugate),
      row_place_(inverse_permutation(factors.row_permutation)),
      column_place_(inverse_permutation(factors.column_permutation)), by_(lower_.cols, T(0)),
      sums_(lower_.cols, T(0)), is_target_(lower_.cols, 0) {
    bool const is_general = factors.upper.cols > 0;
    if (is_general)
        upper_ = transpose(factors.upper);
    else if (factors.diagonal.cols == 0)
        factors.diagonal = split_diagonal(lower_);
    for (Index j = lower_.cols - 1; j >= 0;) {
        check(interrupt);
        if (is_general)
            invert_general(j--);
        else
            j -= invert_symmetric(j, factors.diagonal, conjugate);
    }
}

template <class T>
typename SparseInverse<T>::Column SparseInverse<T>::below(CscMatrix<T>& matrix, Index j, Index skipped) {
    Offset const first = matrix.col_ptr[j] + skipped;
    return {matrix.row_ind.data() + first, matrix.values.data() + first, matrix.col_ptr[j + 1] - first};
}

// sums[i] := sum_k Z_ik v_k for the targets i and the entries v_k of `by`. Column k of `after` has Z_ik for i
// >= k, and column i of `before` has Z_ik, or its conjugate, for k > i.
template <class T> void SparseInverse<T>::add_products(CscMatrix<T>& after, CscMatrix<T>& before,
                                                       Column const& by, Column const& targets,
                                                       bool conjugate_before) {
    for (Index t = 0; t < targets.size; ++t) is_target_[targets.rows[t]] = 1;
    for (Index t = 0; t < by.size; ++t) by_[by.rows[t]] = by.values[t];
    for (Index t = 0; t < by.size; ++t) {
        Column const column = below(after, by.rows[t], 0);
        for (Index p = 0; p < column.size; ++p)
            if (is_target_[column.rows[p]]) sums_[column.rows[p]] += column.values[p] * by.values[t];
    }
    for (Index t = 0; t < targets.size; ++t) {
        Column const column = below(before, targets.rows[t]);
        T sum(0);
        for (Index p = 0; p < column.size; ++p)
            sum += conj_if(conjugate_before, column.values[p]) * by_[column.rows[p]];
        sums_[targets.rows[t]] += sum;
    }
    for (Index t = 0; t < targets.size; ++t) is_target_[targets.rows[t]] = 0;
    for (Index t = 0; t < by.size; ++t) by_[by.rows[t]] = T(0);
}

template <class T> void SparseInverse<T>::take_sums(Column const& targets, std::vector<T>& values, T factor) {
    values.resize(targets.size);
    for (Index t = 0; t < targets.size; ++t) values[t] = std::exchange(sums_[targets.rows[t]], T(0)) * factor;
}

template <class T> void SparseInverse<T>::invert_general(Index j) {
    Column const l = below(lower_, j), u = below(upper_, j);
    T& pivot = *(u.values - 1);
    std::vector<T> column, row; // Z_ij and Z_ji
    add_products(upper_, lower_, l, u, false);
    take_sums(u, column, T(-1));
    add_products(lower_, upper_, u, l, false);
    take_sums(l, row, T(-1) / pivot);
    T rest(1);
    for (Index t = 0; t < u.size; ++t) rest -= u.values[t] * column[t];
    std::ranges::copy(row, l.values);
    std::ranges::copy(column, u.values);
    pivot = rest / pivot;
    *(l.values - 1) = pivot;
}

// Inverts column j, or columns j - 1 and j of a 2 x 2 pivot. Returns the number of columns.
template <class T>
Index SparseInverse<T>::invert_symmetric(Index j, CscMatrix<T> const& diagonal, bool conjugate) {
    auto const op = [&](T value) { return conj_if(conjugate, value); };
    auto const real_if_hermitian = [&](T value) { return conjugate ? T(real_part(value)) : value; };
    bool const is_pair = j > 0 && stored_or_zero(diagonal, j, j - 1) != T(0);
    Index const first = is_pair ? j - 1 : j, count = is_pair ? 2 : 1;
    // Column j - 1 of a pair stores row j of L, where L is zero.
    std::array<Column, 2> const l = {below(lower_, first, count), below(lower_, j)};
    std::array<std::vector<T>, 2> z;
    for (Index c = 0; c < count; ++c) {
        add_products(lower_, lower_, l[c], l[c], conjugate);
        take_sums(l[c], z[c], T(-1));
    }
    auto const corner = [&](T inverse, Index a, Index b) {
        for (Index t = 0; t < l[a].size; ++t) inverse -= op(l[a].values[t]) * z[b][t];
        return inverse;
    };
    T const last = stored_or_zero(diagonal, j, j);
    if (is_pair) {
        T const d = stored_or_zero(diagonal, first, first), b = stored_or_zero(diagonal, j, first);
        T const determinant = d * last - b * op(b);
        l[0].values[-2] = real_if_hermitian(corner(last / determinant, 0, 0));
        l[0].values[-1] = corner(-b / determinant, 1, 0);
        l[1].values[-1] = real_if_hermitian(corner(d / determinant, 1, 1));
    } else {
        l[0].values[-1] = real_if_hermitian(corner(T(1) / last, 0, 0));
    }
    for (Index c = 0; c < count; ++c) std::ranges::copy(z[c], l[c].values);
    return count;
}

template <class T> std::optional<T> SparseInverse<T>::entry(Index i, Index j) const {
    // The rows of A^-1 correspond to the columns of A.
    Index const row = column_place_[i], column = row_place_[j];
    bool const is_general = upper_.cols > 0, is_below = row >= column;
    CscMatrix<T> const& matrix = is_general && is_below ? upper_ : lower_;
    Index const at = std::min(row, column), wanted = std::max(row, column);
    auto const begin = matrix.row_ind.begin() + matrix.col_ptr[at],
               end = matrix.row_ind.begin() + matrix.col_ptr[at + 1];
    auto const found = std::lower_bound(begin, end, wanted);
    if (found == end || *found != wanted) return std::nullopt;
    T const value = matrix.values[found - matrix.row_ind.begin()];
    return is_general || is_below ? value : conj_if(conjugate_, value);
}

ESPALIER_INSTANTIATE_CLASS(SparseInverse)

} // namespace espalier
