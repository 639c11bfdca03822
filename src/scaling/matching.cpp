// With moduli rounded to powers of s = 2^(1/steps), |a_ij| ~ s^e_ij, maximizing the product means minimizing
// the sum of the costs
//     cost(i, j) = max_i e_ij - e_ij >= 0,
// and optimal duals u, v of this assignment problem give the scales
//     r_i = s^u_i,   c_j = s^(v_j - max_i e_ij),
// because then r_i s^e_ij c_j = s^(u_i + v_j - cost(i, j)) <= 1. The rounding makes many costs equal, which
// shortens the search for an assignment.
#include "scaling/matching.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "matrix/convert.hpp"
#include "scaling/assignment.hpp"

namespace espalier {
namespace {

constexpr Index unmatched = -1;

// The exponent of the power of two that is nearest to |value| on a logarithmic scale. The value is not zero.
template <class T> std::int32_t nearest_exponent(T value) {
    constexpr double root_of_half = 0.70710678118654752;
    auto const nearest = [](double modulus) {
        int exponent = 0;
        double const fraction = std::frexp(modulus, &exponent); // from 1/2 to 1
        return fraction < root_of_half ? exponent - 1 : exponent;
    };
    double const re = std::abs(static_cast<double>(real_part(value)));
    if constexpr (is_complex<T>) {
        double const im = std::abs(static_cast<double>(imag_part(value)));
        int const larger = std::ilogb(std::max(re, im)); // the modulus may overflow
        return larger + nearest(std::hypot(std::ldexp(re, -larger), std::ldexp(im, -larger)));
    } else {
        return nearest(re);
    }
}

// Costs of the nonzero entries of a general matrix; largest[j] = max_i e_ij, or 0 for a zero column.
template <class T>
SparseCosts column_costs(CscMatrix<T> const& a, int steps, std::vector<std::int32_t>& largest) {
    double const steps_by_log = steps / std::log(2.0);
    auto const exponent_of = [&](T value) {
        return steps == 1 ? nearest_exponent(value)
                          : static_cast<std::int32_t>(std::lround(steps_by_log * log_modulus(value)));
    };
    SparseCosts costs;
    costs.n = a.cols;
    costs.col_ptr.reserve(a.cols + 1);
    costs.row_ind.reserve(a.stored());
    costs.cost.reserve(a.stored());
    largest.assign(a.cols, 0);
    for (Index j = 0; j < a.cols; ++j) {
        std::int32_t most = std::numeric_limits<std::int32_t>::min();
        for (Offset k : a.entries_of(j)) {
            require_finite(a.values[k], a.row_ind[k], j);
            if (a.values[k] == T(0)) continue;
            costs.row_ind.push_back(a.row_ind[k]);
            costs.cost.push_back(exponent_of(a.values[k]));
            most = std::max(most, costs.cost.back());
        }
        costs.col_ptr.push_back(std::ssize(costs.cost));
        for (Offset k : costs.entries_of(j)) costs.cost[k] = most - costs.cost[k];
        if (!costs.entries_of(j).empty()) largest[j] = most;
    }
    return costs;
}

// Powers of s, clamped to 2^-1000 .. 2^1000. Multiplying all row scales and dividing all column scales by the
// same factor changes no product of the two; this is done if it avoids clamping.
struct Scales {
    std::vector<double> rows, columns;
};
Scales powers(std::span<Offset const> rows, std::span<Offset const> columns, int steps) {
    Offset const limit = 1000 * steps;
    Offset lowest = 0, highest = 0;
    auto const widen = [&](Offset exponent) {
        lowest = std::min(lowest, exponent);
        highest = std::max(highest, exponent);
    };
    for (Offset const exponent : rows) widen(exponent);
    for (Offset const exponent : columns) widen(-exponent);
    Offset const shift = std::max(-lowest, highest) > limit ? -(lowest + highest) / 2 : 0;
    auto const power = [&](Offset exponent) {
        return std::exp2(static_cast<double>(std::clamp(exponent, -limit, limit)) / steps);
    };
    Scales scales;
    scales.rows.reserve(rows.size());
    scales.columns.reserve(columns.size());
    for (Offset const exponent : rows) scales.rows.push_back(power(exponent + shift));
    for (Offset const exponent : columns) scales.columns.push_back(power(exponent - shift));
    return scales;
}

// Splits cycles and paths of a matching into pairs. In the scaled symmetric matrix all entries along a cycle
// of an optimal matching have moduli near 1, so the diagonal entries decide which pairs are good pivots: (1
// 1; 1 1) is singular.
template <class T> class PairCutter {
  public:
    PairCutter(Matching const& matching, CscMatrix<T> const& a)
        : next_(matching.row_of_column), a_(a), scale_(symmetric_scaling(matching)) {}

    std::vector<std::pair<Index, Index>> run() {
        Index const n = a_.cols;
        std::vector<char> has_previous(n, 0), seen(n, 0);
        for (Index const row : next_)
            if (row != unmatched) has_previous[row] = 1;
        auto const collect = [&](Index first) {
            chain_.clear();
            for (Index j = first; j != unmatched && !seen[j]; j = next_[j]) {
                seen[j] = 1;
                chain_.push_back(j);
            }
        };
        for (Index j = 0; j < n; ++j)
            if (!has_previous[j]) {
                collect(j);
                cut_path();
            }
        for (Index j = 0; j < n; ++j)
            if (!seen[j]) {
                collect(j);
                cut_cycle();
            }
        return std::move(pairs_);
    }

  private:
    [[nodiscard]] Index length() const { return static_cast<Index>(chain_.size()); }
    /// The chain, continued periodically.
    [[nodiscard]] Index at(Index position) const { return chain_[position % length()]; }

    void cut_path() {
        if (length() % 2 == 0) return pair_up(0, length());
        // The rest on both sides must have even length.
        Index const dropped = largest_diagonal(2);
        pair_up(0, dropped);
        pair_up(dropped + 1, length() - dropped - 1);
    }

    void cut_cycle() {
        if (length() % 2 == 1) return pair_up(largest_diagonal(1) + 1, length() - 1);
        pair_up(quality(1) > quality(0) ? 1 : 0, length());
    }

    void pair_up(Index first, Index count) {
        for (Index p = first; p < first + count; p += 2) pairs_.push_back(std::minmax({at(p), at(p + 1)}));
    }

    /// Position of the largest scaled diagonal entry among every `step`-th index of the chain.
    [[nodiscard]] Index largest_diagonal(Index step) const {
        Index best = 0;
        for (Index p = step; p < length(); p += step)
            if (std::abs(scaled_entry(at(p), at(p))) > std::abs(scaled_entry(at(best), at(best)))) best = p;
        return best;
    }

    /// Logarithm of the product of |determinants| of the 2 x 2 blocks if pairs start at position `first`.
    [[nodiscard]] double quality(Index first) const {
        double sum = 0;
        for (Index p = first; p < first + length(); p += 2) {
            Index const i = at(p), j = at(p + 1);
            T const determinant =
                scaled_entry(i, i) * scaled_entry(j, j) - scaled_entry(i, j) * scaled_entry(j, i);
            sum += std::log(std::max<double>(std::abs(determinant), epsilon<T>));
        }
        return sum;
    }

    [[nodiscard]] T scaled_entry(Index i, Index j) const {
        bool const mirrored = a_.symmetry != Symmetry::general && i < j;
        Index const row = mirrored ? j : i, column = mirrored ? i : j;
        auto const [first, last] = a_.entries_of(column);
        auto const rows = a_.row_ind.begin();
        Offset const p = std::lower_bound(rows + first, rows + last, row) - rows;
        if (p == last || a_.row_ind[p] != row) return T(0);
        return scaled_value(conj_if(mirrored && a_.symmetry == Symmetry::hermitian, a_.values[p]), scale_[i],
                            scale_[j]);
    }

    std::vector<Index> const& next_; // The index after j is the row matched to column j.
    CscMatrix<T> const& a_;
    std::vector<double> const scale_;
    std::vector<Index> chain_; // The path or cycle being split.
    std::vector<std::pair<Index, Index>> pairs_;
};

} // namespace

template <class T> Matching maximum_product_matching(CscMatrix<T> const& a, int steps, Interrupt* interrupt) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix is {} x {}; a matching needs a square matrix", a.rows, a.cols));
    std::vector<std::int32_t> largest;
    auto const costs = a.symmetry == Symmetry::general ? column_costs(a, steps, largest)
                                                       : column_costs(expand_symmetric(a), steps, largest);
    auto assignment = solve_assignment(costs, interrupt);
    for (Index j = 0; j < a.cols; ++j) assignment.column_dual[j] -= largest[j];
    Scales scales = powers(assignment.row_dual, assignment.column_dual, steps);
    return {std::move(assignment.row_of_column), std::move(scales.rows), std::move(scales.columns),
            assignment.size};
}

std::vector<double> symmetric_scaling(Matching const& matching) {
    std::vector<double> scale(matching.row_scale.size());
    for (Index i = 0; i < std::ssize(scale); ++i)
        scale[i] = std::sqrt(matching.row_scale[i]) * std::sqrt(matching.column_scale[i]);
    return scale;
}

template <class T>
std::vector<std::pair<Index, Index>> matched_pairs(Matching const& matching, CscMatrix<T> const& a) {
    Index const size = std::ssize(matching.row_of_column);
    if (a.rows != a.cols || a.cols != size)
        throw Error(Status::usage,
                    fmt::format("a matching of {} columns cannot be used for a matrix of size {} x {}", size,
                                a.rows, a.cols));
    return PairCutter<T>(matching, a).run();
}

ESPALIER_INSTANTIATE_FUNCTION(maximum_product_matching)
ESPALIER_INSTANTIATE_FUNCTION(matched_pairs)

} // namespace espalier
