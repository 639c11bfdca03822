#include "scaling/scaled_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "matrix/convert.hpp"
#include "scaling/equilibrate.hpp"
#include "scaling/matched_pairs.hpp"
#include "scaling/matching.hpp"

namespace espalier {

namespace {

// Below this part of its column, scaled, a diagonal entry is weak: pivoting inside blocks may then not find
// a good pivot, and a matching is worth the symmetry of the pattern that it costs.
constexpr double strong_diagonal = 1e-3;

// Modulus of the smallest diagonal entry after scaling; 0 where there is none.
template <class T> double weakest_diagonal(CscMatrix<T> const& a, Scaling const& scaling) {
    std::vector<double> diagonal(a.cols, 0.0);
    for (std::size_t j = 0; j < diagonal.size(); ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
            if (a.row_ind[p] == static_cast<Index>(j))
                diagonal[j] = static_cast<double>(
                    std::abs(scaled_value(a.values[p], scaling.row_scale[j], scaling.column_scale[j])));
    return *std::min_element(diagonal.begin(), diagonal.end());
}

// The largest entry of every row and column is within 2^8 of 1, or zero.
template <class T> bool is_in_scale(CscMatrix<T> const& b) {
    std::vector<double> row(b.rows, 0.0), column(static_cast<std::size_t>(b.cols), 0.0);
    for (std::size_t j = 0; j < column.size(); ++j)
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p) {
            auto const i = static_cast<std::size_t>(b.row_ind[p]);
            double const size = static_cast<double>(std::abs(b.values[p]));
            for (double* const largest : {&row[i], &column[j]}) *largest = std::max(*largest, size);
            if (b.symmetry == Symmetry::general) continue;
            for (double* const largest : {&row[j], &column[i]}) *largest = std::max(*largest, size);
        }
    auto const in_scale = [](double size) { return size == 0 || (size >= 1.0 / 256 && size <= 256); };
    return std::all_of(row.begin(), row.end(), in_scale) &&
           std::all_of(column.begin(), column.end(), in_scale);
}

double nearest_power_of_two(double scale) {
    return std::exp2(std::round(std::log2(scale)));
}

template <class T> void sort_columns(CscMatrix<T>& a) {
    std::vector<std::pair<Index, T>> column;
    for (Index j = 0; j < a.cols; ++j) {
        auto const begin = static_cast<std::size_t>(a.col_ptr[j]);
        auto const end = static_cast<std::size_t>(a.col_ptr[j + 1]);
        column.clear();
        for (std::size_t p = begin; p < end; ++p) column.emplace_back(a.row_ind[p], a.values[p]);
        std::sort(column.begin(), column.end(),
                  [](auto const& x, auto const& y) { return x.first < y.first; });
        for (std::size_t p = begin; p < end; ++p) std::tie(a.row_ind[p], a.values[p]) = column[p - begin];
    }
}

// Row i of the matrix to the column that it is matched to; rows and columns left over are put together.
std::vector<Index> places_of_rows(Matching const& matching) {
    std::size_t const n = matching.row_of_column.size();
    std::vector<Index> place(n, -1);
    for (std::size_t j = 0; j < n; ++j)
        if (Index const row = matching.row_of_column[j]; row >= 0) place[row] = static_cast<Index>(j);
    std::size_t row = 0;
    for (std::size_t j = 0; j < n; ++j) {
        if (matching.row_of_column[j] >= 0) continue;
        while (place[row] >= 0) ++row;
        place[row] = static_cast<Index>(j);
    }
    return place;
}

std::vector<Index> complement(std::span<Index const> removed, Index n) {
    std::vector<bool> out(n, false);
    for (Index const i : removed) out[i] = true;
    std::vector<Index> rest;
    for (Index i = 0; i < n; ++i)
        if (!out[i]) rest.push_back(i);
    return rest;
}

} // namespace

template <class T> CscMatrix<T> interior_block(CscMatrix<T> const& a, std::span<Index const> removed) {
    auto const kept = complement(removed, a.cols);
    std::vector<Index> number(a.cols, -1);
    for (std::size_t k = 0; k < kept.size(); ++k) number[kept[k]] = static_cast<Index>(k);
    CscMatrix<T> block;
    block.rows = block.cols = static_cast<Index>(kept.size());
    block.symmetry = a.symmetry;
    for (Index const j : kept) {
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p) {
            Index const row = number[a.row_ind[p]];
            if (row < 0) continue;
            block.row_ind.push_back(row);
            block.values.push_back(a.values[p]);
        }
        block.col_ptr.push_back(static_cast<Offset>(block.row_ind.size()));
    }
    return block;
}

template <class T> ScaledSystem<T>::ScaledSystem(CscMatrix<T> const& a, ScalingOptions const& options) {
    expands_ = options.kind == Factorization::lu && a.symmetry != Symmetry::general;
    if (options.schur.empty()) {
        decide(a, options);
    } else {
        decide(interior_block(a, options.schur), options);
        lift(complement(options.schur, a.cols), a.cols);
    }
}

template <class T> void ScaledSystem<T>::decide(CscMatrix<T> const& a, ScalingOptions const& options) {
    bool const cholesky = options.kind == Factorization::llh || options.kind == Factorization::llt;
    bool const scales = options.scaling == Toggle::on || (options.scaling == Toggle::automatic && !cholesky);
    bool const may_match = options.matching != Toggle::off && !cholesky;
    if (a.cols == 0 || (!scales && !may_match)) return;
    Scaling scaling = equilibrate(a);
    check(options.interrupt);
    if (may_match && (options.matching == Toggle::on || weakest_diagonal(a, scaling) < strong_diagonal))
        match(a, options);
    else if (scales)
        set_scales(std::move(scaling.row_scale), std::move(scaling.column_scale));
}

template <class T> void ScaledSystem<T>::match(CscMatrix<T> const& a, ScalingOptions const& options) {
    Matching matching = maximum_product_matching(a, options.interrupt);
    structural_rank_ = matching.structural_rank;
    if (structural_rank_ < a.cols && !options.allow_singular)
        throw Error(Status::singular,
                    fmt::format("the {} is structurally singular: its structural rank is {} of {}",
                                options.schur.empty() ? "matrix" : "interior block of the matrix",
                                structural_rank_, a.cols));
    matched_ = true;
    bool const scales = options.scaling != Toggle::off;
    if (options.kind != Factorization::lu) {
        pairs_ = matched_pairs(matching, a);
        std::vector<double> scale = symmetric_scaling(matching);
        for (double& s : scale) s = nearest_power_of_two(s);
        if (scales) set_scales(scale, scale);
        return;
    }
    place_of_row_ = places_of_rows(matching);
    if (std::is_sorted(place_of_row_.begin(), place_of_row_.end())) place_of_row_.clear();
    if (!scales) return;
    for (double& scale : matching.row_scale) scale = nearest_power_of_two(scale);
    for (double& scale : matching.column_scale) scale = nearest_power_of_two(scale);
    set_scales(std::move(matching.row_scale), std::move(matching.column_scale));
}

template <class T> void ScaledSystem<T>::set_scales(std::vector<double> rows, std::vector<double> columns) {
    auto const uniform = [](std::vector<double> const& scale) {
        return std::all_of(scale.begin(), scale.end(), [&](double s) { return s == scale.front(); });
    };
    double const product = rows.front() * columns.front();
    if (uniform(rows) && uniform(columns) && product > 1e-100 && product < 1e100)
        return; // changes nothing that matters
    row_scale_ = std::move(rows);
    column_scale_ = std::move(columns);
}

// What was decided for the interior block, in the numbering of the whole matrix.
template <class T> void ScaledSystem<T>::lift(std::vector<Index> const& interior, Index n) {
    auto const lift_scale = [&](std::vector<double>& scale) {
        if (scale.empty()) return;
        std::vector<double> whole(n, 1.0);
        for (std::size_t k = 0; k < interior.size(); ++k) whole[interior[k]] = scale[k];
        scale = std::move(whole);
    };
    lift_scale(row_scale_);
    lift_scale(column_scale_);
    if (!place_of_row_.empty()) {
        std::vector<Index> whole(n);
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<Index>(i);
        for (std::size_t k = 0; k < interior.size(); ++k) whole[interior[k]] = interior[place_of_row_[k]];
        place_of_row_ = std::move(whole);
    }
    for (auto& [first, second] : pairs_) {
        first = interior[first];
        second = interior[second];
    }
}

template <class T> CscMatrix<T> ScaledSystem<T>::apply(CscMatrix<T> const& a) const {
    CscMatrix<T> b = expands_ ? expand_symmetric(a) : a;
    for (std::size_t j = 0; is_scaled() && j < static_cast<std::size_t>(b.cols); ++j)
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p)
            b.values[p] = scaled_value(b.values[p], row_scale_[b.row_ind[p]], column_scale_[j]);
    if (is_permuted()) {
        for (Index& row : b.row_ind) row = place_of_row_[row];
        sort_columns(b);
    }
    return b;
}

template <class T> void ScaledSystem<T>::rescale(CscMatrix<T>& b) {
    if (!is_scaled() || is_in_scale(b)) return;
    Scaling const more = equilibrate(b);
    for (std::size_t i = 0; i < row_scale_.size(); ++i) {
        row_scale_[i] *= more.row_scale[is_permuted() ? static_cast<std::size_t>(place_of_row_[i]) : i];
        column_scale_[i] *= more.column_scale[i];
    }
    for (Index j = 0; j < b.cols; ++j)
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p)
            b.values[p] = scaled_value(b.values[p], more.row_scale[b.row_ind[p]], more.column_scale[j]);
}

template <class T> void ScaledSystem<T>::scale(std::span<T> block, Index columns,
                                               std::vector<double> const& by, bool inverse) const {
    if (!is_scaled() || columns == 0) return;
    for (std::size_t first = 0; first < block.size(); first += by.size())
        for (std::size_t i = 0; i < by.size(); ++i)
            block[first + i] = scaled_value(block[first + i], inverse ? 1 / by[i] : by[i], 1.0);
}

// Row i to place_of_row_[i], or back.
template <class T> void ScaledSystem<T>::permute(std::span<T> block, Index columns, bool inverse) const {
    if (!is_permuted() || columns == 0) return;
    std::size_t const n = place_of_row_.size();
    std::vector<T> copy(n);
    for (std::size_t first = 0; first < block.size(); first += n) {
        auto const column = block.subspan(first, n);
        std::copy(column.begin(), column.end(), copy.begin());
        for (std::size_t i = 0; i < n; ++i) {
            auto const place = static_cast<std::size_t>(place_of_row_[i]);
            if (inverse)
                column[i] = copy[place];
            else
                column[place] = copy[i];
        }
    }
}

// A x = b:            B (C^-1 x) = P R b.
// A^T x = b:  B^T (P R^-1 x) = C b, and the same for A^H since the scales are real.
template <class T> void ScaledSystem<T>::to_working(std::span<T> b, Index columns, MatrixOp op) const {
    if (op != MatrixOp::none) return scale(b, columns, column_scale_, false);
    scale(b, columns, row_scale_, false);
    permute(b, columns, false);
}

template <class T> void ScaledSystem<T>::from_working(std::span<T> y, Index columns, MatrixOp op) const {
    if (op == MatrixOp::none) return scale(y, columns, column_scale_, false);
    permute(y, columns, true);
    scale(y, columns, row_scale_, false);
}

template <class T>
void ScaledSystem<T>::solution_to_working(std::span<T> x, Index columns, MatrixOp op) const {
    if (op == MatrixOp::none) return scale(x, columns, column_scale_, true);
    scale(x, columns, row_scale_, true);
    permute(x, columns, false);
}

template <class T> CscMatrix<T> ScaledSystem<T>::to_working(CscMatrix<T> b, MatrixOp op) const {
    auto const& by = op == MatrixOp::none ? row_scale_ : column_scale_;
    if (is_scaled())
        for (std::size_t p = 0; p < b.row_ind.size(); ++p)
            b.values[p] = scaled_value(b.values[p], by[b.row_ind[p]], 1.0);
    if (is_permuted() && op == MatrixOp::none) {
        for (Index& row : b.row_ind) row = place_of_row_[row];
        sort_columns(b);
    }
    return b;
}

// A permutation of n elements in c cycles is odd when n - c is.
template <class T> bool ScaledSystem<T>::odd() const {
    std::vector<bool> seen(place_of_row_.size(), false);
    bool odd = false;
    for (std::size_t start = 0; start < seen.size(); ++start) {
        if (seen[start]) continue;
        seen[start] = true;
        for (auto i = static_cast<std::size_t>(place_of_row_[start]); i != start;
             i = static_cast<std::size_t>(place_of_row_[i])) {
            seen[i] = true;
            odd = !odd;
        }
    }
    return odd;
}

template <class T> double ScaledSystem<T>::log_factor() const {
    double sum = 0;
    for (std::size_t i = 0; i < row_scale_.size(); ++i)
        sum -= std::log(row_scale_[i]) + std::log(column_scale_[i]);
    return sum;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template class ScaledSystem<T>;                                                                          \
    template CscMatrix<T> interior_block<T>(CscMatrix<T> const&, std::span<Index const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
