#include "scaling/scaled_system.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "matrix/convert.hpp"
#include "scaling/equilibrate.hpp"
#include "scaling/matching.hpp"

namespace espalier {

namespace {

// The largest moduli of the rows and columns.
struct Sizes {
    std::vector<double> row, column;

    template <class Test> [[nodiscard]] bool all(Test const& test) const {
        return std::ranges::all_of(row, test) && std::ranges::all_of(column, test);
    }
};

template <class T> Sizes sizes_of(CscMatrix<T> const& b) {
    Sizes sizes{std::vector<double>(b.rows, 0.0), std::vector<double>(b.cols, 0.0)};
    auto& [row, column] = sizes;
    for (Index j = 0; j < b.cols; ++j)
        for (Offset p : b.entries_of(j)) {
            Index const i = b.row_ind[p];
            double const size = modulus(b.values[p]);
            for (double* const largest : {&row[i], &column[j]}) *largest = std::max(*largest, size);
            if (b.symmetry == Symmetry::general) continue;
            for (double* const largest : {&row[j], &column[i]}) *largest = std::max(*largest, size);
        }
    return sizes;
}

bool is_zero(double size) {
    return size == 0;
}

// Whether all sizes are 0 or between 1 / most and most.
bool is_in_scale(Sizes const& sizes, double most) {
    return sizes.all([most](double size) { return is_zero(size) || (size >= 1 / most && size <= most); });
}

// Whether no two sizes that are not 0 differ by more than the factor `most`, and all of them are moderate.
template <class T> bool is_uniform(Sizes const& sizes, double most) {
    double smallest = moderate_size<T>, largest = 1 / moderate_size<T>;
    bool const are_finite = sizes.all([&](double size) {
        if (is_zero(size)) return true;
        smallest = std::min(smallest, size);
        largest = std::max(largest, size);
        return size < moderate_size<T> && size > 1 / moderate_size<T>;
    });
    return are_finite && largest <= most * smallest;
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
    return !is_scaled() || is_in_scale(sizes_of(b), 1 / std::sqrt(roundoff));
}

template <class T> bool ScaledSystem<T>::is_out_of_scale(CscMatrix<T> const& a, CscMatrix<T> const& b,
                                                         std::span<Index const> schur) const {
    if (!choice_.adapts_scales) return false;
    constexpr double most = sizeof(Real<T>) == 8 ? 256 : 16;
    Sizes const sizes = schur.empty() ? sizes_of(b) : sizes_of(interior_block(b, schur));
    if (!is_scaled()) return !is_uniform<T>(sizes, most * most);
    if (!is_in_scale(sizes, most)) return true;
    return !sizes.all(std::not_fn(is_zero)) && loses_entries(a);
}

// Whether the scaled value of an entry that is not zero is zero.
template <class T> bool ScaledSystem<T>::loses_entries(CscMatrix<T> const& a) const {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p : a.entries_of(j))
            if (a.values[p] != T(0) &&
                scaled_value(a.values[p], row_scale(a.row_ind[p]), column_scale(j)) == T(0))
                return true;
    return false;
}

// The new scales do not start from the old ones: these may have made a row so large that the others become
// negligible in all its columns.
template <class T>
CscMatrix<T> ScaledSystem<T>::rescale(CscMatrix<T> const& a, std::span<Index const> schur) {
    ScaledSystem fresh = *this; // an exception leaves this system as it was
    std::vector<double>& rows = fresh.choice_.row_scale;
    std::vector<double>& columns = fresh.choice_.column_scale;
    rows.assign(a.rows, 1.0);
    columns.assign(a.cols, 1.0);
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
    *this = std::move(fresh);
    return unscaled;
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
