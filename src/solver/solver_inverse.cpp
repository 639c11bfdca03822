// Entries of the inverse of the factorized matrix.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "kernels/blas.hpp"
#include "matrix/convert.hpp"
#include "matrix/entries.hpp"
#include "solve/sparse_inverse.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

// Requires that this process has the factors of all unknowns, and in T.
template <class T> void Solver<T>::State::require_own_factors(char const* what) const {
    require_no_schur(what);
    require_complete(what);
    if (!context_.is_alone())
        throw Error(Status::unsupported, std::string(what) + " needs a single process");
    if (factor_.is_narrow())
        throw Error(Status::unsupported,
                    std::string(what) + " needs factors in full precision; set mixed_precision to false");
}

// Computes A^-1 on the structure of the factors. Works on a copy of factors without column blocks or with
// delayed columns.
template <class T> InverseEntries<T> Solver<T>::State::invert(char const* what) {
    require_own_factors(what);
    if (report.factor.numerically_singular)
        throw Error(Status::singular, "the matrix is singular to working precision and has no inverse");
    if (report.factor.pivots_replaced > 0)
        throw Error(Status::unsupported,
                    std::string(what) + " needs the factors of the matrix itself, and some pivots were replaced");
    require_no_growth(what);
    bool const is_sparse = system_->is_scalar || factor_.factor().has_delayed();
    std::uint64_t const needed =
        is_sparse ? 2 * (sizeof(T) + sizeof(Index)) * static_cast<std::uint64_t>(report.analysis.nnz_stored)
                  : SelectedInverse<T>::bytes(structure(), form_, context_.workers().size());
    require_memory(report.analysis.memory_bytes + needed, options.max_memory, "the selected inverse");
    if (is_sparse) {
        auto const inverse =
            std::make_shared<SparseInverse<T> const>(all_factors(true), form_.conjugate(), context_.interrupt());
        return [inverse](Index row, Index column) { return inverse->entry(row, column); };
    }
    SingleThreadedBlas const blas;
    auto const inverse = std::make_shared<SelectedInverse<T> const>(factor_.selected_inverse());
    return [this, inverse](Index row, Index column) { return entry_of_inverse(*inverse, row, column); };
}

// With the working system B = P R A C, the inverse is A^-1 = C B^-1 P R.
template <class T>
std::optional<T> Solver<T>::State::entry_of_inverse(SelectedInverse<T> const& inverse, Index row,
                                                    Index column) const {
    ScaledSystem<T> const& system = analysis_->system;
    std::vector<Index> const& perm = structure().perm;
    std::optional<T> const entry = inverse.entry(perm[row], perm[system.row_place(column)]);
    if (!entry) return std::nullopt;
    return *entry * static_cast<Real<T>>(system.column_scale(row)) * static_cast<Real<T>>(system.row_scale(column));
}

// Computes the diagonal of A A^-1, which needs exactly these entries. Adds a note if it is far from the
// identity.
template <class T>
void Solver<T>::State::check_inverse(CscMatrix<T> const& matrix, CscMatrix<T> const& inverse) {
    std::vector<T> sums(matrix.rows, T(-1));
    CscMatrix<T> const whole = matrix.symmetry == Symmetry::general ? CscMatrix<T>() : expand_symmetric(inverse);
    // row i of A is column i of these
    CscMatrix<T> const& rows = matrix.symmetry == Symmetry::general ? inverse : whole;
    CscMatrix<T> const full = expand_symmetric(matrix);
    std::vector<Offset> next(rows.col_ptr.begin(), rows.col_ptr.end() - 1);
    for (Index j = 0; j < full.cols; ++j)
        for (Offset const p : full.entries_of(j)) {
            Index const i = full.row_ind[p];
            sums[i] += full.values[p] * rows.values[next[i]++];
        }
    double worst = 0;
    for (T const sum : sums) {
        auto const error = static_cast<double>(std::abs(sum));
        if (!(error <= worst)) worst = error; // also true for a NaN
    }
    if (!(worst <= std::sqrt(static_cast<double>(epsilon<T>))))
        note("the selected inverse is inaccurate: the diagonal of A A^-1 differs from 1 by {:.1e}", worst);
}

// The transpose of an entry of A is on the structure of the factors, whose rows are permuted.
template <class T> CscMatrix<T> Solver<T>::State::selected_inverse(CscMatrix<T> const& matrix) {
    require_factors("selected_inverse");
    if (context_.is_alone()) require_pattern(matrix, pattern_, "selected_inverse");
    InverseEntries<T> const inverse = invert("selected_inverse");
    auto const entry = [&](Index i, Index j) {
        if (std::optional<T> const found = inverse(i, j)) return *found;
        throw Error(Status::internal, "an entry of the inverse is missing");
    };
    CscMatrix<T> result = transpose(matrix);
    for_each_entry(result, [&](Index i, Index j, Offset p) { result.values[p] = entry(i, j); });
    check_inverse(matrix, result);
    return result;
}

template <class T> std::vector<T> Solver<T>::State::inverse_diagonal() {
    require_factors("inverse_diagonal");
    std::vector<T> diagonal;
    std::vector<Index> missing;
    {
        InverseEntries<T> const inverse = invert("inverse_diagonal");
        diagonal.resize(system_->order);
        for (Index i = 0; i < system_->order; ++i) {
            std::optional<T> const entry = inverse(i, i);
            if (entry)
                diagonal[i] = *entry;
            else
                missing.push_back(i);
        }
    }
    solve_for_diagonal(missing, diagonal);
    return diagonal;
}

// Computes these entries of the diagonal of A^-1 by solves with unit vectors.
template <class T>
void Solver<T>::State::solve_for_diagonal(std::span<Index const> rows, std::vector<T>& diagonal) {
    constexpr std::size_t block_columns = 64;
    SingleThreadedBlas const blas;
    Index const n = system_->order;
    auto const solve = [&](std::vector<T>& block, Index columns) {
        if (system_->is_scalar) return scalar_.solve(block, columns, MatrixOp::none);
        ScaledSystem<T> const& system = analysis_->system;
        system.to_working(std::span<T>(block), columns);
        factor_.solve(block, columns, MatrixOp::none);
        system.from_working(std::span<T>(block), columns);
    };
    for (; !rows.empty(); rows = rows.subspan(std::min(rows.size(), block_columns))) {
        auto const some = rows.first(std::min(rows.size(), block_columns));
        std::vector<T> block(n * some.size(), T(0));
        for (std::size_t k = 0; k < some.size(); ++k) block[n * k + some[k]] = T(1);
        solve(block, std::ssize(some));
        for (std::size_t k = 0; k < some.size(); ++k) diagonal[some[k]] = block[n * k + some[k]];
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template CscMatrix<T> Solver<T>::State::selected_inverse(CscMatrix<T> const&);                           \
    template std::vector<T> Solver<T>::State::inverse_diagonal();                                            \
    template void Solver<T>::State::require_own_factors(char const*) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
