#include "scaling/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "matrix/convert.hpp"
#include "scaling/equilibrate.hpp"
#include "scaling/matching.hpp"

namespace espalier {

namespace {

// Whether the largest modulus of every row and column is 0 or between 1 / most and most.
template <class T> bool is_in_scale(CscMatrix<T> const& b, double most) {
    std::vector<double> row(b.rows, 0.0), column(b.cols, 0.0);
    for (Index j = 0; j < b.cols; ++j)
        for (Offset p : b.entries_of(j)) {
            Index const i = b.row_ind[p];
            double const size = static_cast<double>(std::abs(b.values[p]));
            for (double* const largest : {&row[i], &column[j]}) *largest = std::max(*largest, size);
            if (b.symmetry == Symmetry::general) continue;
            for (double* const largest : {&row[j], &column[i]}) *largest = std::max(*largest, size);
        }
    auto const in_scale = [most](double size) { return size == 0 || (size >= 1 / most && size <= most); };
    return std::all_of(row.begin(), row.end(), in_scale) &&
           std::all_of(column.begin(), column.end(), in_scale);
}

template <class T> void scale_entries(CscMatrix<T>& a, std::vector<double> const& row_scale,
                                      std::vector<double> const& column_scale) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p : a.entries_of(j))
            a.values[p] = scaled_value(a.values[p], row_scale[a.row_ind[p]], column_scale[j]);
}

} // namespace

template <class T> void ScaledSystem<T>::permute_rows(CscMatrix<T>& a) const {
    if (!is_permuted()) return;
    std::vector<std::pair<Index, T>> column;
    for (Index j = 0; j < a.cols; ++j) {
        auto const entries = a.entries_of(j);
        column.clear();
        for (Offset p : entries) column.emplace_back(row_place(a.row_ind[p]), a.values[p]);
        std::sort(column.begin(), column.end(),
                  [](auto const& x, auto const& y) { return x.first < y.first; });
        for (Offset p : entries) std::tie(a.row_ind[p], a.values[p]) = column[p - entries.first];
    }
}

template <class T> CscMatrix<T> ScaledSystem<T>::apply(CscMatrix<T> const& a) const {
    CscMatrix<T> b = expands_ ? expand_symmetric(a) : a;
    if (is_scaled()) scale_entries(b, choice_.row_scale, choice_.column_scale);
    permute_rows(b);
    return b;
}

template <class T> bool ScaledSystem<T>::suits(CscMatrix<T> const& b, double roundoff) const {
    return !is_scaled() || is_in_scale(b, 1 / std::sqrt(roundoff));
}

// The new scales do not start from the old ones: these may have made a row so large that the others become
// negligible in all its columns.
template <class T>
bool ScaledSystem<T>::rescale(CscMatrix<T> const& a, CscMatrix<T>& b, std::span<Index const> schur) {
    if (!is_scaled()) return false;
    constexpr double most = sizeof(Real<T>) == 8 ? 256 : 16;
    auto const is_good = [&] {
        return schur.empty() ? is_in_scale(b, most) : is_in_scale(interior_block(b, schur), most);
    };
    if (is_good()) return false;
    ScaledSystem fresh = *this; // an exception leaves this system as it was
    std::vector<double>& rows = fresh.choice_.row_scale;
    std::vector<double>& columns = fresh.choice_.column_scale;
    rows.assign(a.rows, 1.0);
    columns.assign(a.cols, 1.0);
    b = {}; // before a new copy, because two copies are not needed
    CscMatrix<T> unscaled = fresh.apply(a);
    Scaling scaling;
    if (schur.empty()) {
        scaling = equilibrate(unscaled);
    } else {
        Scaling const of_block = equilibrate(interior_block(unscaled, schur));
        scaling.row_scale = scaling.column_scale = rows;
        std::vector<Index> const interior = complement(schur, a.cols);
        for (std::size_t k = 0; k < interior.size(); ++k) {
            scaling.row_scale[interior[k]] = of_block.row_scale[k];
            scaling.column_scale[interior[k]] = of_block.column_scale[k];
        }
    }
    scale_entries(unscaled, scaling.row_scale, scaling.column_scale);
    for (Index i = 0; i < a.rows; ++i) rows[i] = scaling.row_scale[row_place(i)];
    columns = std::move(scaling.column_scale);
    b = std::move(unscaled);
    *this = std::move(fresh);
    return true;
}

template <class T> void ScaledSystem<T>::scale(std::span<T> block, Index columns,
                                               std::vector<double> const& by, bool inverse) const {
    Index const n = std::ssize(by); // 0 if the system is not scaled
    for (Index c = 0; c < columns; ++c)
        for (Index i = 0; i < n; ++i)
            block[c * n + i] = scaled_value(block[c * n + i], inverse ? 1 / by[i] : by[i], 1.0);
}

// Moves row i to row_place(i), or back.
template <class T> void ScaledSystem<T>::permute(std::span<T> block, Index columns, bool inverse) const {
    Index const n = std::ssize(choice_.row_place); // 0 if the system is not permuted
    std::vector<T> copy(n);
    for (Index c = 0; c < columns && n > 0; ++c) {
        auto const column = block.subspan(c * n, n);
        std::copy(column.begin(), column.end(), copy.begin());
        for (Index i = 0; i < n; ++i)
            if (inverse)
                column[i] = copy[row_place(i)];
            else
                column[row_place(i)] = copy[i];
    }
}

// A x = b:    B (C^-1 x) = P R b.
// A^T x = b:  B^T (P R^-1 x) = C b; likewise for A^H, as the scales are real.
template <class T> void ScaledSystem<T>::to_working(std::span<T> b, Index columns, MatrixOp op) const {
    if (op != MatrixOp::none) return scale(b, columns, choice_.column_scale, false);
    scale(b, columns, choice_.row_scale, false);
    permute(b, columns, false);
}

template <class T> void ScaledSystem<T>::from_working(std::span<T> y, Index columns, MatrixOp op) const {
    if (op == MatrixOp::none) return scale(y, columns, choice_.column_scale, false);
    permute(y, columns, true);
    scale(y, columns, choice_.row_scale, false);
}

template <class T>
void ScaledSystem<T>::solution_to_working(std::span<T> x, Index columns, MatrixOp op) const {
    if (op == MatrixOp::none) return scale(x, columns, choice_.column_scale, true);
    scale(x, columns, choice_.row_scale, true);
    permute(x, columns, false);
}

template <class T> CscMatrix<T> ScaledSystem<T>::to_working(CscMatrix<T> b, MatrixOp op) const {
    auto const& by = op == MatrixOp::none ? choice_.row_scale : choice_.column_scale;
    if (is_scaled())
        for (Offset p = 0; p < b.stored(); ++p)
            b.values[p] = scaled_value(b.values[p], by[b.row_ind[p]], 1.0);
    if (op == MatrixOp::none) permute_rows(b);
    return b;
}

// A permutation of n elements with c cycles is odd if n - c is odd.
template <class T> bool ScaledSystem<T>::odd() const {
    Index const n = std::ssize(choice_.row_place);
    std::vector<bool> seen(n, false);
    bool odd = false;
    for (Index start = 0; start < n; ++start) {
        if (seen[start]) continue;
        seen[start] = true;
        for (Index i = row_place(start); i != start; i = row_place(i)) {
            seen[i] = true;
            odd = !odd;
        }
    }
    return odd;
}

template <class T> double ScaledSystem<T>::log_factor() const {
    double sum = 0;
    for (Index i = 0; i < std::ssize(choice_.row_scale); ++i)
        sum -= std::log(choice_.row_scale[i]) + std::log(choice_.column_scale[i]);
    return sum;
}

ESPALIER_INSTANTIATE_CLASS(ScaledSystem)

} // namespace espalier
