// The common base of Espalier's solvers for Eigen: conversion of the matrix, the steps with their errors as
// in Eigen, and dense and sparse right-hand sides. Included by espalier/eigen.hpp.
#pragma once

#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "espalier/checked_solver.hpp"

namespace espalier {

/// Base class of the solver `Derived`. `SparseMatrix` is an Eigen::SparseMatrix in either storage order, with
/// any index type, and scalars float, double or their complex types.
///
/// Errors in the values or the pattern of a matrix are not thrown: info() reports them and lastErrorMessage()
/// describes them. Lack of memory and cancellation are thrown as std::bad_alloc and Error. Two threads must
/// not use one solver at the same time, not even through const members.
template <class Derived, class SparseMatrix> class EigenSolver : public Eigen::SparseSolverBase<Derived> {
    using Base = Eigen::SparseSolverBase<Derived>;

  public:
    /// The interface of an Eigen solver.
    /// @{
    using MatrixType = SparseMatrix;
    using Scalar = typename MatrixType::Scalar;             ///< Scalar of matrix and solution.
    using RealScalar = typename MatrixType::RealScalar;     ///< Type of its modulus.
    using StorageIndex = typename MatrixType::StorageIndex; ///< Index type of the matrix.
    enum {
        ColsAtCompileTime = MatrixType::ColsAtCompileTime,
        MaxColsAtCompileTime = MatrixType::MaxColsAtCompileTime
    };
    /// @}

    /// Calls analyzePattern() and factorize().
    Derived& compute(MatrixType const& matrix) {
        analyzePattern(matrix);
        return factorize(matrix);
    }

    /// Computes ordering and structure for all matrices of this pattern. Scaling and matching depend on the
    /// values, which should be typical; if they are not usable, e.g. all zero, factorize() repeats the
    /// analysis.
    Derived& analyzePattern(MatrixType const& matrix) {
        take(matrix);
        guarded([&] { analyze(); });
        info_ = Eigen::Success;
        message_.clear();
        return this->derived();
    }

    /// Numeric factorization. A matrix with a different pattern than the last one is analyzed first.
    Derived& factorize(MatrixType const& matrix) {
        bool const same_pattern = take(matrix);
        factorized_ = false;
        guarded([&] {
            if (!analyzed_ || !same_pattern) analyze();
            if (matrix_.cols > 0) {
                solver_.set_options(chosen_options());
                solver_.factorize(matrix_);
            }
            factorized_ = true;
        });
        return this->derived();
    }

    /// The result of the last factorize() or of a later solve(). NumericalIssue: the matrix is singular or
    /// not positive definite, or the backward error exceeds the tolerance. InvalidInput: the matrix is not
    /// square, or the matrix or the right-hand side has a NaN or Inf.
    [[nodiscard]] Eigen::ComputationInfo info() const {
        eigen_assert(this->m_isInitialized && "info() before compute()");
        return info_;
    }
    /// One line that describes the error of info(); empty after success.
    [[nodiscard]] std::string const& lastErrorMessage() const { return message_; }

    /// Number of rows of the last matrix.
    [[nodiscard]] Eigen::Index rows() const { return static_cast<Eigen::Index>(matrix_.rows); }
    /// Number of columns of the last matrix.
    [[nodiscard]] Eigen::Index cols() const { return static_cast<Eigen::Index>(matrix_.cols); }

    /// det A. It may overflow, unlike its logarithm.
    [[nodiscard]] Scalar determinant() const {
        Determinant<Scalar> const det = factored_determinant();
        return det.phase * Scalar(static_cast<RealScalar>(std::exp(det.log_modulus)));
    }
    /// log |det A|.
    [[nodiscard]] RealScalar logAbsDeterminant() const {
        return static_cast<RealScalar>(factored_determinant().log_modulus);
    }
    /// det A / |det A|, or 0 if det A = 0.
    [[nodiscard]] Scalar signDeterminant() const { return factored_determinant().phase; }

    /// Options of the next steps, such as threads, ordering and tolerance. The class determines the
    /// factorization.
    [[nodiscard]] Options& options() { return options_; }
    /// Options of the next steps.
    [[nodiscard]] Options const& options() const { return options_; }
    /// Results of the last steps: fill, work, times, backward error.
    [[nodiscard]] Report const& report() const { return solver_.report(); }

    /// Called by Solve expressions with dense right-hand sides.
    template <class Rhs, class Dest>
    void _solve_impl(Eigen::MatrixBase<Rhs> const& b, Eigen::MatrixBase<Dest>& x) const {
        solve_as(MatrixOp::none, b, x);
    }
    /// Called by Solve expressions with sparse right-hand sides.
    template <class Rhs, class Dest>
    void _solve_impl(Eigen::SparseMatrixBase<Rhs> const& b, Eigen::SparseMatrixBase<Dest>& x) const {
        solve_as(MatrixOp::none, b, x);
    }

    /// x = op(A)^-1 b for one or several columns. x is NaN if there is no factorization.
    template <class Rhs, class Dest>
    void solve_as(MatrixOp op, Eigen::MatrixBase<Rhs> const& b, Eigen::MatrixBase<Dest>& x) const {
        DenseBlock block = b;
        solve_block(op, block);
        x.derived() = block;
    }
    /// x = op(A)^-1 b for sparse right-hand sides, in groups of columns.
    template <class Rhs, class Dest> void solve_as(MatrixOp op, Eigen::SparseMatrixBase<Rhs> const& b,
                                                   Eigen::SparseMatrixBase<Dest>& x) const {
        using Columns = Eigen::SparseMatrix<Scalar, Eigen::ColMajor, typename Dest::StorageIndex>;
        constexpr Eigen::Index group = 32;
        Columns const given(b.derived());
        Columns found(given.rows(), given.cols());
        Eigen::ComputationInfo info = Eigen::Success;
        std::string message; // of the first group that fails
        for (Eigen::Index first = 0; first < given.cols(); first += group) {
            DenseBlock block = given.middleCols(first, std::min(group, given.cols() - first));
            solve_block(op, block);
            if (info == Eigen::Success && info_ != Eigen::Success) {
                info = info_;
                message = message_;
                if (first > 0) message += ", in the columns from " + std::to_string(first) + " on";
            }
            for (Eigen::Index j = 0; j < block.cols(); ++j) {
                found.startVec(first + j);
                for (Eigen::Index i = 0; i < block.rows(); ++i)
                    if (block(i, j) != Scalar(0)) found.insertBack(i, first + j) = block(i, j);
            }
        }
        found.finalize();
        x.derived() = found;
        if (info != Eigen::Success) {
            info_ = info;
            message_ = std::move(message);
        }
    }

  protected:
    /// `kept` is the triangle of a symmetric matrix that is read: Eigen::Lower or Eigen::Upper.
    EigenSolver(Factorization kind, Symmetry symmetry, unsigned kept = 0)
        : kind_(kind), upper_(kept == Eigen::Upper) {
        matrix_.symmetry = symmetry;
    }

  private:
    using DenseBlock = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

    // Calls visit(row, column, value) for each used entry, with ascending rows in each column.
    template <class Visit> void for_each_entry(MatrixType const& given, Visit const& visit) const {
        bool const general = matrix_.symmetry == Symmetry::general;
        for (Eigen::Index outer = 0; outer < given.outerSize(); ++outer)
            for (typename MatrixType::InnerIterator entry(given, outer); entry; ++entry) {
                auto const row = static_cast<Index>(entry.row()), column = static_cast<Index>(entry.col());
                if (general)
                    visit(row, column, Scalar(entry.value()));
                else if (upper_ ? row <= column : row >= column)
                    visit(std::max(row, column), std::min(row, column),
                          of_lower(entry.value(), row == column));
            }
    }

    // The entry of the lower triangle for an entry of the given triangle.
    Scalar of_lower(Scalar const& value, bool diagonal) const {
        if (matrix_.symmetry != Symmetry::hermitian) return value;
        if (diagonal) return Scalar(Eigen::numext::real(value));
        return upper_ ? Eigen::numext::conj(value) : value;
    }

    // Converts the matrix in time linear in its entries. Returns whether the pattern is unchanged.
    bool take(MatrixType const& given) {
        auto const n = static_cast<Index>(given.cols());
        std::vector<Offset> next(static_cast<std::size_t>(n + 1), 0);
        for_each_entry(given, [&](Index, Index column, Scalar const&) { ++next[column + 1]; });
        std::partial_sum(next.begin(), next.end(), next.begin());
        bool const same_shape = matrix_.rows == given.rows() && matrix_.col_ptr == next;
        matrix_.rows = static_cast<Index>(given.rows());
        matrix_.cols = n;
        matrix_.col_ptr = next;
        std::vector<Index> rows(static_cast<std::size_t>(next.back()));
        matrix_.values.resize(rows.size());
        for_each_entry(given, [&](Index row, Index column, Scalar const& value) {
            Offset const at = next[column]++;
            rows[at] = row;
            matrix_.values[at] = value;
        });
        bool const same_pattern = same_shape && rows == matrix_.row_ind;
        matrix_.row_ind = std::move(rows);
        this->m_isInitialized = true;
        return same_pattern;
    }

    [[nodiscard]] Options chosen_options() const {
        Options chosen = options_;
        chosen.factorization = kind_;
        return chosen;
    }

    void analyze() {
        analyzed_ = factorized_ = false;
        if (matrix_.cols > 0 || matrix_.rows > 0) {
            solver_.set_options(chosen_options());
            solver_.analyze(matrix_);
        }
        analyzed_ = true;
    }

    // Runs a step and converts errors in the matrix to info().
    template <class Step> void guarded(Step const& step) const {
        try {
            info_ = Eigen::Success;
            message_.clear();
            step();
        } catch (Error const& error) {
            message_ = error.what();
            switch (error.status()) {
            case Status::singular:
            case Status::not_positive_definite:
            case Status::inaccurate:
                info_ = Eigen::NumericalIssue;
                break;
            case Status::bad_input:
                info_ = Eigen::InvalidInput;
                break;
            case Status::out_of_memory:
                throw std::bad_alloc();
            default:
                throw;
            }
        }
    }

    void solve_block(MatrixOp op, DenseBlock& block) const {
        eigen_assert(factorized_ && "solve() without a factorization: check info() after compute()");
        if (!factorized_)
            return block.setConstant(Scalar(std::numeric_limits<RealScalar>::quiet_NaN())), void();
        if (block.size() == 0) return;
        auto const nrhs = static_cast<Index>(block.cols());
        auto const size = static_cast<std::size_t>(block.size());
        guarded([&] {
            std::span<Scalar> const x(block.data(), size);
            solve_checked(solver_, options_.refine, matrix_, x, nrhs, op);
        });
    }

    [[nodiscard]] Determinant<Scalar> factored_determinant() const {
        eigen_assert(factorized_ && "determinant() without a factorization: check info() after compute()");
        return cols() > 0 ? solver_.determinant() : Determinant<Scalar>();
    }

    Factorization kind_;
    bool upper_;
    Options options_;
    CscMatrix<Scalar> matrix_;
    bool analyzed_ = false;
    bool factorized_ = false;
    // Eigen requires a const solve(), but the solver updates times and workspace.
    mutable Solver<Scalar> solver_;
    mutable Eigen::ComputationInfo info_ = Eigen::InvalidInput;
    mutable std::string message_;
};

} // namespace espalier
