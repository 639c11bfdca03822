// Results that espalier::Solver takes from the factors: inertia, determinant, the factors themselves, and
// entries of the inverse.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "analysis/checks.hpp"
#include "kernels/blas.hpp"
#include "matrix/convert.hpp"
#include "matrix/entries.hpp"
#include "matrix/norms.hpp"
#include "solve/explicit_factors.hpp"
#include "solve/sparse_inverse.hpp"
#include "solver/callers_factors.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> Inertia Solver<T>::State::inertia() {
    require("inertia", {Need::factors, Need::complete});
    require("the inertia", {Need::known_pivots});
    if (system_->is_simplicial) return simplicial_.inertia();
    return factor_.inertia();
}

// det A = det B (-1)^odd exp(log_factor), with the working system B (scaled_system.hpp).
template <class T> Determinant<T> Solver<T>::State::determinant() {
    require("determinant", {Need::all_eliminated, Need::complete});
    // Replaced pivots are zero to working precision here.
    if (report.factor.numerically_singular) return {T(0), -std::numeric_limits<double>::infinity()};
    require("the determinant", {Need::known_pivots});
    if (system_->is_simplicial) return simplicial_.determinant();
    Determinant<T> const of_working = factor_.determinant();
    return context_.on_root([&] {
        ScaledSystem<T> const& system = analysis_->system;
        return Determinant<T>{system.odd() ? -of_working.phase : of_working.phase,
                              of_working.log_modulus + system.log_factor()};
    });
}

template <class T> Factors<T> Solver<T>::State::factors() {
    require("factors", {Need::own_factors});
    require_memory_of({.bytes = bytes_of_all_factors()}, "the factors as sparse matrices");
    return all_factors(false);
}

template <class T> std::uint64_t Solver<T>::State::bytes_of_all_factors() const {
    if (!system_->is_simplicial) return explicit_factor_bytes(factor_.factor());
    return 2 * (sizeof(T) + sizeof(Index)) * static_cast<std::uint64_t>(report.analysis.nnz_stored);
}

// With `keeps_zeros`, the factors have all entries of their structure.
template <class T> Factors<T> Solver<T>::State::all_factors(bool keeps_zeros) {
    if (!system_->is_simplicial) return callers_factors(analysis_->system, factor_.factor(), keeps_zeros);
    Factors<T> found = simplicial_.explicit_factors();
    if (keeps_zeros) return found;
    for (CscMatrix<T>* const a : {&found.lower, &found.diagonal, &found.upper})
        retain_entries(*a, [a](Index, Index, Offset p) { return a->values[p] != T(0); });
    return found;
}

template <class T> std::vector<T> Solver<T>::State::solve_half(std::span<T const> b, bool forward) {
    require(forward ? "solve_lower" : "solve_lower_adjoint", {Need::own_factors});
    if (form_.has_upper())
        throw Error(Status::usage,
                    "solves with one factor need a symmetric factorization (llh, llt, ldlt or ldlh)");
    require_block(b.size(), system_->order, call_.columns, "the right-hand side");
    require_memory_of_columns({2 * call_.columns, 8, 0, call_.columns},
                              forward ? "solve_lower" : "solve_lower_adjoint");
    if (system_->is_simplicial) {
        std::vector<T> x(b.begin(), b.end());
        simplicial_.ldl().solve_half(x, call_.columns, forward);
        return x;
    }
    SingleThreadedBlas const blas;
    return espalier::solve_half(analysis_->system, factor_, b, call_.columns, forward);
}

// Computes A^-1 on the structure of the factors. Works on a copy of factors without column blocks or with
// delayed columns.
template <class T>
InverseEntries<T> Solver<T>::State::invert(char const* what, std::uint64_t bytes_of_result) {
    require(what, {Need::own_factors});
    if (report.factor.numerically_singular)
        throw Error(Status::singular, "the matrix is singular to working precision and has no inverse");
    if (report.factor.pivots_replaced > 0)
        throw Error(
            Status::unsupported,
            fmt::format(
                "{} is not available: pivots were replaced, so the factors are those of a perturbed matrix",
                what));
    require(what, {Need::no_growth});
    bool const is_sparse = system_->is_simplicial || factor_.factor().has_delayed();
    std::uint64_t const needed =
        is_sparse ? bytes_of_all_factors()
                  : SelectedInverse<T>::bytes(factor_.structure(), form_, context_.workers().size());
    require_memory_of({.bytes = needed + bytes_of_result}, "the selected inverse");
    if (is_sparse) {
        auto const inverse = std::make_shared<SparseInverse<T> const>(all_factors(true), form_.conjugate(),
                                                                      context_.interrupt());
        return [inverse](Index row, Index column) { return inverse->entry(row, column); };
    }
    SingleThreadedBlas const blas;
    return callers_inverse(analysis_->system,
                           std::make_shared<SelectedInverse<T> const>(factor_.selected_inverse()),
                           factor_.structure().perm);
}

// The transpose of an entry of A is on the structure of the factors, whose rows are permuted.
template <class T> CscMatrix<T> Solver<T>::State::selected_inverse(CscMatrix<T> const& matrix) {
    require("selected_inverse", {Need::factors});
    if (context_.is_alone()) require_pattern(matrix, pattern_, "selected_inverse", context_.threads());
    // the result, and for error_of_inverse() both matrices with both triangles, and two vectors
    std::uint64_t const bytes =
        5 * static_cast<std::uint64_t>(matrix.stored()) * (sizeof(T) + sizeof(Index)) +
        2 * static_cast<std::uint64_t>(system_->order) * sizeof(T);
    InverseEntries<T> inverse = invert("selected_inverse", bytes);
    auto const entry = [&](Index i, Index j) {
        if (std::optional<T> const found = inverse(i, j)) return *found;
        throw Error(Status::internal, "an entry of the inverse is missing");
    };
    CscMatrix<T> result = transpose(matrix);
    for_each_entry(result, [&](Index i, Index j, Offset p) { result.values[p] = entry(i, j); });
    inverse = nullptr; // its memory is needed below
    double const worst = error_of_inverse(matrix, result);
    if (!(worst <= std::sqrt(static_cast<double>(epsilon<T>))))
        notes_.add("the selected inverse is inaccurate: the diagonal of A A^-1 differs from 1 by {:.1e}",
                   worst);
    std::vector<T> diagonal(system_->order);
    std::vector<bool> is_known(system_->order, false);
    for_each_entry(result, [&](Index i, Index j, Offset p) {
        if (i != j) return;
        diagonal[i] = result.values[p];
        is_known[i] = true;
    });
    std::vector<Index> unknown;
    for (Index i = 0; i < system_->order; ++i)
        if (!is_known[i]) unknown.push_back(i);
    check_diagonal([&](Index i) { return diagonal[i]; }, unknown, "the selected inverse");
    return result;
}

template <class T> std::vector<T> Solver<T>::State::inverse_diagonal() {
    require("inverse_diagonal", {Need::factors});
    std::vector<T> diagonal;
    std::vector<Index> missing;
    {
        std::uint64_t const bytes = static_cast<std::uint64_t>(system_->order) * (sizeof(T) + sizeof(Index));
        InverseEntries<T> const inverse = invert("inverse_diagonal", bytes);
        diagonal.resize(system_->order);
        for (Index i = 0; i < system_->order; ++i) {
            std::optional<T> const entry = inverse(i, i);
            if (entry)
                diagonal[i] = *entry;
            else
                missing.push_back(i);
        }
    }
    check_diagonal([&](Index i) { return diagonal[i]; }, missing, "the diagonal of the inverse");
    solve_for(missing, diagonal);
    return diagonal;
}

// Computes entries of the diagonal of A^-1 by solves.
template <class T> void Solver<T>::State::solve_for(std::span<Index const> rows, std::vector<T>& diagonal) {
    if (rows.empty()) return;
    Index const together = std::min(std::ssize(rows), columns_of_diagonal);
    require_memory_of({1, 2 * together, together, together}, "the diagonal of the inverse");
    SingleThreadedBlas const blas;
    ScaledSystem<T> const& system = analysis_->system;
    auto const solve = [&](std::span<T> block, Index columns) {
        system.to_working(block, columns);
        if (system_->is_simplicial)
            simplicial_.solve(block, columns, MatrixOp::none);
        else
            factor_.solve(block, columns, MatrixOp::none);
        system.from_working(block, columns);
    };
    solve_for_diagonal<T>(solve, rows, diagonal);
}

// Compares some entries entry(i) of the diagonal of A^-1 with those that solves give, which are more
// accurate, except for the rows `unknown`, which ascend. A difference becomes a note about `what`.
template <class T> void Solver<T>::State::check_diagonal(FunctionRef<T(Index)> entry,
                                                         std::span<Index const> unknown, char const* what) {
    constexpr Index most_checked = 64;
    Index const n = system_->order, most = std::min(n, most_checked);
    std::vector<Index> rows;
    for (Index k = 0; k < most; ++k)
        if (!std::ranges::binary_search(unknown, k * n / most)) rows.push_back(k * n / most);
    std::vector<T> solved(n);
    solve_for(rows, solved);
    double worst = 0, largest = 0;
    for (Index const i : rows) {
        worst = larger(worst, static_cast<double>(std::abs(entry(i) - solved[i])));
        largest = larger(largest, static_cast<double>(std::abs(solved[i])));
    }
    if (!(worst <= std::sqrt(static_cast<double>(epsilon<T>)) * largest))
        notes_.add(
            "{} is inaccurate: {} diagonal entries were checked by solves, and the largest difference is "
            "{:.1e}, relative to the largest entry",
            what, rows.size(), worst / largest);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Inertia Solver<T>::State::inertia();                                                            \
    template Determinant<T> Solver<T>::State::determinant();                                                 \
    template Factors<T> Solver<T>::State::factors();                                                         \
    template std::vector<T> Solver<T>::State::solve_half(std::span<T const>, bool);                          \
    template CscMatrix<T> Solver<T>::State::selected_inverse(CscMatrix<T> const&);                           \
    template std::vector<T> Solver<T>::State::inverse_diagonal();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
