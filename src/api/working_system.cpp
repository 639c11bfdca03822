#include "api/working_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "matrix/convert.hpp"
#include "matrix/equilibrate.hpp"
#include "matrix/matched_pairs.hpp"
#include "matrix/matching.hpp"

namespace espalier {

namespace {

// Below this part of its column, scaled, a diagonal entry is weak: pivoting inside blocks may then not find
// a good pivot, and a matching is worth the symmetry of the pattern that it costs.
constexpr double strong_diagonal = 1e-3;

// Modulus of each diagonal entry after scaling; 0 where there is none.
template <class T> std::vector<double> scaled_diagonal(CscMatrix<T> const& a, Scaling const& scaling) {
    std::vector<double> diagonal(static_cast<std::size_t>(a.cols), 0.0);
    for (std::size_t j = 0; j < diagonal.size(); ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
            if (a.row_ind[static_cast<std::size_t>(p)] == static_cast<Index>(j))
                diagonal[j] = static_cast<double>(std::abs(scaled_value(
                    a.values[static_cast<std::size_t>(p)], scaling.row_scale[j], scaling.column_scale[j])));
    return diagonal;
}

template <class T> Matching match_or_refuse(CscMatrix<T> const& a) {
    Matching matching = maximum_product_matching(a);
    if (matching.structural_rank < a.cols)
        throw Error(Status::singular,
                    fmt::format("the matrix is structurally singular: its structural rank is {} of {}",
                                matching.structural_rank, a.cols));
    return matching;
}

double nearest_power_of_two(double scale) {
    return std::exp2(std::round(std::log2(scale)));
}

template <class T> void sort_columns(CscMatrix<T>& a) {
    std::vector<std::pair<Index, T>> column;
    for (std::size_t j = 0; j < static_cast<std::size_t>(a.cols); ++j) {
        auto const begin = static_cast<std::size_t>(a.col_ptr[j]);
        auto const end = static_cast<std::size_t>(a.col_ptr[j + 1]);
        column.clear();
        for (std::size_t p = begin; p < end; ++p) column.emplace_back(a.row_ind[p], a.values[p]);
        std::sort(column.begin(), column.end(),
                  [](auto const& x, auto const& y) { return x.first < y.first; });
        for (std::size_t p = begin; p < end; ++p) std::tie(a.row_ind[p], a.values[p]) = column[p - begin];
    }
}

} // namespace

template <class T> WorkingSystem<T>::WorkingSystem(CscMatrix<T> const& a, Factorization kind) {
    if (kind == Factorization::llh || kind == Factorization::llt || a.cols == 0) return;
    expands_ = kind == Factorization::lu && a.symmetry != Symmetry::general;
    Scaling scaling = equilibrate(a);
    auto const diagonal = scaled_diagonal(a, scaling);
    double const weakest = *std::min_element(diagonal.begin(), diagonal.end());
    if (weakest >= strong_diagonal) {
        set_scales(std::move(scaling.row_scale), std::move(scaling.column_scale));
        return;
    }
    Matching matching = match_or_refuse(a);
    if (kind != Factorization::lu) {
        pairs_ = matched_pairs(matching, a);
        std::vector<double> scale = symmetric_scaling(matching);
        for (double& s : scale) s = nearest_power_of_two(s);
        set_scales(scale, scale);
        return;
    }
    place_of_row_.resize(static_cast<std::size_t>(a.cols));
    for (std::size_t j = 0; j < place_of_row_.size(); ++j)
        place_of_row_[static_cast<std::size_t>(matching.row_of_column[j])] = static_cast<Index>(j);
    if (std::is_sorted(place_of_row_.begin(), place_of_row_.end())) place_of_row_.clear();
    for (double& scale : matching.row_scale) scale = nearest_power_of_two(scale);
    for (double& scale : matching.column_scale) scale = nearest_power_of_two(scale);
    set_scales(std::move(matching.row_scale), std::move(matching.column_scale));
}

template <class T> void WorkingSystem<T>::set_scales(std::vector<double> rows, std::vector<double> columns) {
    auto const uniform = [](std::vector<double> const& scale) {
        return std::all_of(scale.begin(), scale.end(), [&](double s) { return s == scale.front(); });
    };
    double const product = rows.front() * columns.front();
    if (uniform(rows) && uniform(columns) && product > 1e-100 && product < 1e100)
        return; // changes nothing that matters
    row_scale_ = std::move(rows);
    column_scale_ = std::move(columns);
}

template <class T> CscMatrix<T> WorkingSystem<T>::apply(CscMatrix<T> const& a) const {
    CscMatrix<T> b = expands_ ? expand_symmetric(a) : a;
    for (std::size_t j = 0; is_scaled() && j < static_cast<std::size_t>(b.cols); ++j)
        for (auto p = static_cast<std::size_t>(b.col_ptr[j]); p < static_cast<std::size_t>(b.col_ptr[j + 1]);
             ++p)
            b.values[p] = scaled_value(b.values[p], row_scale_[static_cast<std::size_t>(b.row_ind[p])],
                                       column_scale_[j]);
    if (is_permuted()) {
        for (Index& row : b.row_ind) row = place_of_row_[static_cast<std::size_t>(row)];
        sort_columns(b);
    }
    return b;
}

template <class T> void WorkingSystem<T>::to_working(std::span<T> b, Index columns) const {
    std::size_t const n = columns > 0 ? b.size() / static_cast<std::size_t>(columns) : 0;
    std::vector<T> copy;
    for (std::size_t first = 0; n > 0 && first < b.size(); first += n) {
        auto const column = b.subspan(first, n);
        if (is_scaled())
            for (std::size_t i = 0; i < n; ++i) column[i] = scaled_value(column[i], row_scale_[i], 1.0);
        if (!is_permuted()) continue;
        copy.assign(column.begin(), column.end());
        for (std::size_t i = 0; i < n; ++i) column[static_cast<std::size_t>(place_of_row_[i])] = copy[i];
    }
}

template <class T> void WorkingSystem<T>::from_working(std::span<T> y, Index columns) const {
    std::size_t const n = columns > 0 ? y.size() / static_cast<std::size_t>(columns) : 0;
    if (!is_scaled()) return;
    for (std::size_t first = 0; n > 0 && first < y.size(); first += n)
        for (std::size_t i = 0; i < n; ++i) y[first + i] = scaled_value(y[first + i], column_scale_[i], 1.0);
}

template <class T> void WorkingSystem<T>::solution_to_working(std::span<T> x, Index columns) const {
    std::size_t const n = columns > 0 ? x.size() / static_cast<std::size_t>(columns) : 0;
    if (!is_scaled()) return;
    for (std::size_t first = 0; n > 0 && first < x.size(); first += n)
        for (std::size_t i = 0; i < n; ++i)
            x[first + i] = scaled_value(x[first + i], 1 / column_scale_[i], 1.0);
}

#define ESPALIER_INSTANTIATE(T) template class WorkingSystem<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
