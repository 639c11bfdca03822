// A solver for the matrices of other programs, which returns only accurate solutions. The headers for deal.II
// and MFEM are based on it, and the header for Eigen uses solve_checked().
#pragma once

#include <cmath>
#include <complex>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/import.hpp"

namespace espalier {

/// Error{bad_input} with the position of the first of the values, columns of `rows` entries, that is NaN or
/// infinite. `what` names them.
template <class T> void require_finite(std::span<T const> values, Index rows, char const* what) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (std::isfinite(std::real(values[k])) && std::isfinite(std::imag(values[k]))) continue;
        auto const place = static_cast<Index>(k);
        throw Error(Status::bad_input, std::string(what) + " has a NaN or infinity at row " +
                                           std::to_string(place % rows) + ", column " +
                                           std::to_string(place / rows) + " (counted from 0)");
    }
}

/// Solves op(A) X = B by the factors in `solver`, where X has the entries of B on entry, and refines X until
/// its backward error is within the tolerance. Error{inaccurate} if it stays above; X is the best solution
/// found. Error{bad_input} if B has a NaN or infinity; X may then also have them. With `method` =
/// RefineMethod::none the factors are applied, and nothing is checked.
template <class T> void solve_checked(Solver<T>& solver, RefineMethod method, CscMatrix<T> const& matrix,
                                      std::span<T> x, Index nrhs = 1, MatrixOp op = MatrixOp::none) {
    if (method == RefineMethod::none) return solver.solve_in_place(x, nrhs, op);
    std::vector<T> const b(x.begin(), x.end());
    solver.solve_in_place(x, nrhs, op);
    RefineReport const refined = solver.refine(matrix, b, x, nrhs, op);
    if (refined.status == Status::ok) return;
    require_finite<T>(b, matrix.rows, "the right-hand side");
    char text[80];
    std::snprintf(text, sizeof text, "solved with a backward error of %.1e, above the tolerance",
                  refined.backward_error);
    throw Error(Status::inaccurate, text);
}

/// A solver with a copy of its matrix, on one process. Failures are thrown as Error; afterwards there are no
/// factors.
template <class T> class CheckedSolver {
  public:
    /// Options of the next steps, such as threads, ordering and tolerance.
    [[nodiscard]] Options& options() { return options_; }
    /// Results of the last steps.
    [[nodiscard]] Report const& report() const { return solver_.report(); }
    /// Order of the factorized matrix; 0 if there is none.
    [[nodiscard]] Index order() const { return factorized_ ? matrix_.cols : 0; }

    /// Copies and factorizes a square matrix. The analysis is kept if the matrix has the pattern of the last
    /// one.
    template <class I> void factorize(MatrixArrays<T, I> const& view) {
        factorized_ = false;
        CscMatrix<T> next = import_matrix(view);
        if (next.rows != next.cols)
            throw Error(Status::bad_input, "the matrix has " + std::to_string(next.rows) + " rows and " +
                                               std::to_string(next.cols) + " columns; it must be square");
        bool const same_pattern = analyzed_ && next.symmetry == matrix_.symmetry &&
                                  next.col_ptr == matrix_.col_ptr && next.row_ind == matrix_.row_ind;
        analyzed_ = analyzed_ && same_pattern;
        matrix_ = std::move(next);
        if (matrix_.cols > 0) {
            solver_.set_options(options_);
            if (!analyzed_) solver_.analyze(matrix_);
            analyzed_ = true;
            solver_.factorize(matrix_);
        }
        factorized_ = true;
    }

    /// Replaces X, which has the entries of B (n x nrhs) on entry, by the solution of op(A) X = B, like
    /// solve_checked(). Error{usage} without factors, or if X has another size.
    void solve(std::span<T> x, Index nrhs = 1, MatrixOp op = MatrixOp::none) {
        if (!factorized_) throw Error(Status::usage, "solve needs a factorized matrix");
        if (matrix_.cols == 0 && x.empty()) return;
        solve_checked(solver_, options_.refine, matrix_, x, nrhs, op);
    }

  private:
    Options options_;
    CscMatrix<T> matrix_;
    bool analyzed_ = false;
    bool factorized_ = false;
    Solver<T> solver_;
};

} // namespace espalier
