// The factors of the caller's matrix as sparse matrices, and solves with one of them. With the working system
// B = P R A C and B(p, q) = L U, A(P^-1 p, q) = (R^-1 L R) (R^-1 U C^-1), where R and C are in the order of
// the factors. L D L^op is treated likewise with R = C.
#include <algorithm>

#include "analysis/checks.hpp"
#include "factor/explicit_factors.hpp"
#include "kernels/blas.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

namespace {

// Computes a(i, j) := a(i, j) rows[i]^r columns[j]^c for exponents r and c of 1, 0 or -1. Scales are powers
// of two.
template <class T> void scale_factor(CscMatrix<T>& a, std::vector<Real<T>> const& rows, int r,
                                     std::vector<Real<T>> const& columns, int c) {
    auto const power = [](Real<T> base, int exponent) {
        return exponent == 0 ? Real<T>(1) : exponent > 0 ? base : 1 / base;
    };
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) a.values[p] *= power(rows[a.row_ind[p]], r) * power(columns[j], c);
}

template <class T> void drop_zeros(CscMatrix<T>& a) {
    Offset kept = 0;
    for (Index j = 0; j < a.cols; ++j) {
        IndexRange const entries = a.entries_of(j);
        a.col_ptr[j] = kept;
        for (Offset const p : entries) {
            if (a.values[p] == T(0)) continue;
            a.row_ind[kept] = a.row_ind[p];
            a.values[kept++] = a.values[p];
        }
    }
    a.col_ptr.back() = kept;
    a.row_ind.resize(kept);
    a.values.resize(kept);
}

// Returns the scales of these rows or columns, in this order.
template <class T, class Scale> std::vector<Real<T>> scales_of(std::vector<Index> const& order, Scale const& scale) {
    std::vector<Real<T>> scales;
    for (Index const i : order) scales.push_back(static_cast<Real<T>>(scale(i)));
    return scales;
}

} // namespace

template <class T> Factors<T> Solver<T>::State::factors() {
    require_own_factors("factors");
    return all_factors(false);
}

// With `keeps_zeros`, the factors have all entries of their structure.
template <class T> Factors<T> Solver<T>::State::all_factors(bool keeps_zeros) {
    if (system_->is_scalar) {
        Factors<T> found = scalar_.factors().explicit_factors(context_.interrupt());
        if (!keeps_zeros) drop_zeros(found.lower), drop_zeros(found.upper);
        return found;
    }
    ScaledSystem<T> const& system = analysis_->system;
    Factors<T> found = explicit_factors(factor_.factor(), keeps_zeros);
    if (system.is_permuted()) {
        std::vector<Index> row_at(system_->order);
        for (Index i = 0; i < system_->order; ++i) row_at[system.row_place(i)] = i;
        for (Index& row : found.row_permutation) row = row_at[row];
    }
    if (!system.is_scaled()) return found;
    auto const rows = scales_of<T>(found.row_permutation, [&](Index i) { return system.row_scale(i); });
    auto const columns = scales_of<T>(found.column_permutation, [&](Index j) { return system.column_scale(j); });
    scale_factor(found.lower, rows, -1, rows, form_.has_d() || form_.has_upper() ? 1 : 0);
    scale_factor(found.diagonal, rows, -1, rows, -1);
    scale_factor(found.upper, rows, -1, columns, -1);
    return found;
}

// A sweep takes vectors in the order of the matrix. Between the two halves, the pivots of a cblk are in the
// order of its columns. A symmetric system has no row permutation, and R = C = S. The forward half applies S
// (L D)^-1 S in place of (L D)^-1, or L^-1 S for llh and llt. The backward half applies S L^-op S^-1 in place
// of L^-op, or S L^-op.
template <class T> std::vector<T> Solver<T>::State::solve_half(std::span<T const> b, bool forward) {
    require_own_factors(forward ? "solve_lower" : "solve_lower_adjoint");
    if (system_->is_scalar || form_.has_upper())
        throw Error(Status::usage, "solves with one factor need a symmetric factorization (llh, llt, ldlt or ldlh)");
    Index const n = system_->order, columns = call_.columns;
    require_block(b.size(), n, columns, "the right-hand side");
    SingleThreadedBlas const blas;
    PivotOrder const order = pivot_order(factor_.factor());
    auto const unknowns_of = [&](std::vector<Index> numbers) {
        for (Index& number : numbers) number = structure().inverse[number];
        return numbers;
    };
    std::vector<Index> const outer = unknowns_of(order.rows), inner = unknowns_of(order.results);
    auto const scales = scales_of<T>(outer, [&](Index i) { return analysis_->system.row_scale(i); });
    std::vector<T> block(b.size()), x(b.size());
    for (Index j = 0; j < columns; ++j)
        for (Index t = 0; t < n; ++t) {
            Real<T> const scale = forward ? scales[t] : form_.has_d() ? 1 / scales[t] : Real<T>(1);
            block[j * n + (forward ? outer : inner)[t]] = b[j * n + t] * scale;
        }
    if (forward)
        factor_.condense(block, columns);
    else
        factor_.expand(block, columns);
    for (Index j = 0; j < columns; ++j)
        for (Index t = 0; t < n; ++t) {
            Real<T> const scale = !forward || form_.has_d() ? scales[t] : Real<T>(1);
            x[j * n + t] = block[j * n + (forward ? inner : outer)[t]] * scale;
        }
    return x;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Factors<T> Solver<T>::State::factors();                                                         \
    template std::vector<T> Solver<T>::State::solve_half(std::span<T const>, bool);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
