#include "scaling/scaling_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "matrix/convert.hpp"
#include "scaling/equilibrate.hpp"
#include "scaling/matching.hpp"

namespace espalier {

namespace {

// A diagonal entry is weak if its modulus after scaling is below this bound. Pivoting inside blocks may then
// find no good pivot, and a matching is worth the loss of symmetry in the pattern.
constexpr double strong_diagonal = 1e-3;

// Smallest modulus of a diagonal entry after scaling; 0 if a diagonal entry is missing.
template <class T> double weakest_diagonal(CscMatrix<T> const& a, Scaling const& scaling) {
    std::vector<double> diagonal(a.cols, 0.0);
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p : a.entries_of(j))
            if (a.row_ind[p] == j)
                diagonal[j] = static_cast<double>(
                    std::abs(scaled_value(a.values[p], scaling.row_scale[j], scaling.column_scale[j])));
    return *std::min_element(diagonal.begin(), diagonal.end());
}

// Row i of the matrix goes to the column that it is matched to; unmatched rows go to unmatched columns.
std::vector<Index> places_of_rows(Matching const& matching) {
    Index const n = std::ssize(matching.row_of_column);
    std::vector<Index> place(n, -1);
    for (Index j = 0; j < n; ++j)
        if (Index const row = matching.row_of_column[j]; row >= 0) place[row] = j;
    Index row = 0;
    for (Index j = 0; j < n; ++j) {
        if (matching.row_of_column[j] >= 0) continue;
        while (place[row] >= 0) ++row;
        place[row] = j;
    }
    return place;
}

// Rounds scales to powers of two and stores them unless they are uniform and of moderate size, so that
// products of several entries cannot overflow.
template <class T>
void set_scales(ScalingChoice& choice, std::vector<double> rows, std::vector<double> columns) {
    for (auto* scales : {&rows, &columns})
        for (double& scale : *scales) scale = std::exp2(std::round(std::log2(scale)));
    auto const uniform = [](std::vector<double> const& scale) {
        return std::all_of(scale.begin(), scale.end(), [&](double s) { return s == scale.front(); });
    };
    choice.adapts_scales = true;
    double const product = rows.front() * columns.front();
    if (uniform(rows) && uniform(columns) && product > 1 / moderate_size<T> && product < moderate_size<T>)
        return;
    choice.row_scale = std::move(rows);
    choice.column_scale = std::move(columns);
}

template <class T> ScalingChoice choose_by_matching(CscMatrix<T> const& a, ScalingOptions const& options) {
    Matching matching = maximum_product_matching(a, options.matching_steps, options.interrupt);
    if (matching.structural_rank < a.cols && !options.allow_singular)
        throw Error(Status::singular,
                    fmt::format("the {} is structurally singular: its structural rank is {} of {}",
                                options.schur.empty() ? "matrix" : "interior block of the matrix",
                                matching.structural_rank, a.cols));
    ScalingChoice choice;
    choice.structural_rank = matching.structural_rank;
    choice.matched = true;
    bool const scales = options.scaling != Toggle::off;
    if (options.kind == Factorization::lu) {
        choice.row_place = places_of_rows(matching);
        if (std::is_sorted(choice.row_place.begin(), choice.row_place.end())) choice.row_place.clear();
        if (scales) set_scales<T>(choice, std::move(matching.row_scale), std::move(matching.column_scale));
    } else {
        choice.pairs = matched_pairs(matching, a);
        auto const scale = symmetric_scaling(matching);
        if (scales) set_scales<T>(choice, scale, scale);
    }
    return choice;
}

template <class T> ScalingChoice choose_for_all(CscMatrix<T> const& a, ScalingOptions const& options) {
    bool const cholesky = options.kind == Factorization::llh || options.kind == Factorization::llt;
    bool const scales = options.scaling == Toggle::on || (options.scaling == Toggle::automatic && !cholesky);
    bool const may_match = options.matching != Toggle::off && !cholesky;
    ScalingChoice choice;
    if (a.cols == 0 || (!scales && !may_match)) return choice;
    Scaling scaling = equilibrate(a);
    check(options.interrupt);
    if (may_match && (options.matching == Toggle::on || weakest_diagonal(a, scaling) < strong_diagonal))
        return choose_by_matching(a, options);
    if (scales) set_scales<T>(choice, std::move(scaling.row_scale), std::move(scaling.column_scale));
    return choice;
}

// Extends a choice for the interior block to the whole matrix of size n; `interior` lists its unknowns.
void extend(ScalingChoice& choice, std::vector<Index> const& interior, Index n) {
    for (auto* scale : {&choice.row_scale, &choice.column_scale}) {
        if (scale->empty()) continue;
        std::vector<double> whole(n, 1.0);
        for (Index k = 0; k < std::ssize(interior); ++k) whole[interior[k]] = (*scale)[k];
        *scale = std::move(whole);
    }
    if (!choice.row_place.empty()) {
        std::vector<Index> whole(n);
        std::iota(whole.begin(), whole.end(), 0);
        for (Index k = 0; k < std::ssize(interior); ++k) whole[interior[k]] = interior[choice.row_place[k]];
        choice.row_place = std::move(whole);
    }
    for (auto& [first, second] : choice.pairs) {
        first = interior[first];
        second = interior[second];
    }
}

} // namespace

template <class T> ScalingChoice choose_scaling(CscMatrix<T> const& a, ScalingOptions const& options) {
    if (options.schur.empty()) return choose_for_all(a, options);
    auto choice = choose_for_all(interior_block(a, options.schur), options);
    extend(choice, complement(options.schur, a.cols), a.cols);
    return choice;
}

ESPALIER_INSTANTIATE_FUNCTION(choose_scaling)

} // namespace espalier
