#include "solver/callers_factors.hpp"

#include <algorithm>
#include <cmath>

#include "matrix/convert.hpp"
#include "matrix/entries.hpp"
#include "solve/explicit_factors.hpp"

namespace espalier {

namespace {

// Computes a(i, j) := a(i, j) rows[i]^r columns[j]^c for exponents r and c of 1, 0 or -1. Scales are powers
// of two.
template <class T> void scale_factor(CscMatrix<T>& a, std::vector<Real<T>> const& rows, int r,
                                     std::vector<Real<T>> const& columns, int c) {
    auto const power = [](Real<T> base, int exponent) {
        return exponent == 0 ? Real<T>(1) : exponent > 0 ? base : 1 / base;
    };
    for_each_entry(
        a, [&](Index i, Index j, Offset p) { a.values[p] *= power(rows[i], r) * power(columns[j], c); });
}

// Returns the scales of these rows or columns, in this order.
template <class T, class Scale>
std::vector<Real<T>> scales_of(std::vector<Index> const& order, Scale const& scale) {
    std::vector<Real<T>> scales;
    for (Index const i : order) scales.push_back(static_cast<Real<T>>(scale(i)));
    return scales;
}

} // namespace

template <class T>
Factors<T> callers_factors(ScaledSystem<T> const& system, Factor<T> const& factor, bool keeps_zeros) {
    Factors<T> found = explicit_factors(factor, keeps_zeros);
    if (system.is_permuted()) {
        std::vector<Index> row_at(found.row_permutation.size());
        for (Index i = 0; i < std::ssize(row_at); ++i) row_at[system.row_place(i)] = i;
        for (Index& row : found.row_permutation) row = row_at[row];
    }
    if (!system.is_scaled()) return found;
    auto const rows = scales_of<T>(found.row_permutation, [&](Index i) { return system.row_scale(i); });
    auto const columns =
        scales_of<T>(found.column_permutation, [&](Index j) { return system.column_scale(j); });
    bool const has_unit_diagonal = factor.form().has_d() || factor.form().has_upper();
    scale_factor(found.lower, rows, -1, rows, has_unit_diagonal ? 1 : 0);
    scale_factor(found.diagonal, rows, -1, rows, -1);
    scale_factor(found.upper, rows, -1, columns, -1);
    return found;
}

// A sweep takes vectors in the order of the matrix. Between the two halves, the pivots of a cblk are in the
// order of its columns. A symmetric system has no row permutation, and R = C = S. The forward half applies S
// (L D)^-1 S in place of (L D)^-1, or L^-1 S for llh and llt. The backward half applies S L^-op S^-1 in place
// of L^-op, or S L^-op.
template <class T> std::vector<T> solve_half(ScaledSystem<T> const& system, NumericFactor<T>& factor,
                                             std::span<T const> b, Index columns, bool forward) {
    Index const n = factor.structure().n;
    bool const has_d = factor.factor().form().has_d();
    PivotOrder const order = pivot_order(factor.factor());
    auto const unknowns_of = [&](std::vector<Index> numbers) {
        for (Index& number : numbers) number = factor.structure().inverse[number];
        return numbers;
    };
    std::vector<Index> const outer = unknowns_of(order.rows), inner = unknowns_of(order.results);
    auto const scales = scales_of<T>(outer, [&](Index i) { return system.row_scale(i); });
    std::vector<T> block(b.size()), x(b.size());
    for (Index j = 0; j < columns; ++j)
        for (Index t = 0; t < n; ++t) {
            Real<T> const scale = forward ? scales[t] : has_d ? 1 / scales[t] : Real<T>(1);
            block[j * n + (forward ? outer : inner)[t]] = b[j * n + t] * scale;
        }
    if (forward)
        factor.condense(block, columns);
    else
        factor.expand(block, columns);
    for (Index j = 0; j < columns; ++j)
        for (Index t = 0; t < n; ++t) {
            Real<T> const scale = !forward || has_d ? scales[t] : Real<T>(1);
            x[j * n + t] = block[j * n + (forward ? inner : outer)[t]] * scale;
        }
    return x;
}

template <class T> InverseEntries<T> callers_inverse(ScaledSystem<T> const& system,
                                                     std::shared_ptr<SelectedInverse<T> const> inverse,
                                                     std::vector<Index> const& perm) {
    return [&system, &perm, inverse](Index row, Index column) -> std::optional<T> {
        std::optional<T> const entry = inverse->entry(perm[row], perm[system.row_place(column)]);
        if (!entry) return std::nullopt;
        return *entry * static_cast<Real<T>>(system.column_scale(row)) *
               static_cast<Real<T>>(system.row_scale(column));
    };
}

template <class T> double error_of_inverse(CscMatrix<T> const& a, CscMatrix<T> const& inverse) {
    CscMatrix<T> const whole = expand_symmetric(a), transposed = transpose(expand_symmetric(inverse));
    std::vector<T> sums(a.rows, T(-1));
    for_each_entry(whole,
                   [&](Index i, Index, Offset p) { sums[i] += whole.values[p] * transposed.values[p]; });
    double worst = 0;
    for (T const sum : sums) {
        auto const error = static_cast<double>(std::abs(sum));
        if (!(error <= worst)) worst = error; // also true for a NaN
    }
    return worst;
}

template <class T> void solve_for_diagonal(std::function<void(std::span<T>, Index columns)> const& solve,
                                           std::span<Index const> rows, std::vector<T>& diagonal) {
    Index const n = std::ssize(diagonal);
    while (!rows.empty()) {
        auto const some = rows.first(std::min(std::ssize(rows), columns_of_diagonal));
        rows = rows.subspan(some.size());
        std::vector<T> block(n * some.size(), T(0));
        for (std::size_t k = 0; k < some.size(); ++k) block[n * k + some[k]] = T(1);
        solve(block, std::ssize(some));
        for (std::size_t k = 0; k < some.size(); ++k) diagonal[some[k]] = block[n * k + some[k]];
    }
}

ESPALIER_INSTANTIATE_FUNCTION(callers_factors)
ESPALIER_INSTANTIATE_FUNCTION(solve_half)
ESPALIER_INSTANTIATE_FUNCTION(callers_inverse)
ESPALIER_INSTANTIATE_FUNCTION(error_of_inverse)
ESPALIER_INSTANTIATE_FUNCTION(solve_for_diagonal)

} // namespace espalier
