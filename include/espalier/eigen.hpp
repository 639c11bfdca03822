// Espalier as a sparse solver of Eigen: EigenLLT, EigenLDLT and EigenLU replace SimplicialLLT, SimplicialLDLT
// and SparseLU.
//
//     Eigen::SparseMatrix<double> A = ...;
//     espalier::EigenLDLT<Eigen::SparseMatrix<double>> solver(A);    // or compute(A)
//     if (solver.info() != Eigen::Success) ...
//     Eigen::VectorXd x = solver.solve(b);
//
// In addition, solve() refines and checks the solution: if the backward error exceeds the tolerance, info()
// returns Eigen::NumericalIssue, as after a failed factorization. Requires Eigen 3.3 or later.
#pragma once

#include "espalier/eigen_solver.hpp"

namespace espalier {

/// The symmetry that a class for self-adjoint matrices assumes: symmetric for real scalars or with the flag
/// Eigen::Symmetric, else Hermitian.
template <class Scalar, int Flags> inline constexpr Symmetry eigen_symmetry =
    Eigen::NumTraits<Scalar>::IsComplex && !(Flags & Eigen::Symmetric) ? Symmetry::hermitian
                                                                       : Symmetry::symmetric;

/// Cholesky factorization A = L L^H of a real symmetric or Hermitian positive definite matrix. Only the
/// triangle `Flags` (Eigen::Lower or Eigen::Upper) is read. info() is NumericalIssue if the matrix is not
/// positive definite.
template <class SparseMatrix, int Flags = Eigen::Lower> class EigenLLT
    : public EigenSolver<EigenLLT<SparseMatrix, Flags>, SparseMatrix> {
    using Base = EigenSolver<EigenLLT, SparseMatrix>;
    static_assert(Flags == Eigen::Lower || Flags == Eigen::Upper, "Eigen::Lower or Eigen::Upper");

  public:
    enum { UpLo = Flags };
    /// A solver without a matrix.
    EigenLLT() : Base(Factorization::llh, eigen_symmetry<typename SparseMatrix::Scalar, Flags>, Flags) {}
    /// Calls compute(matrix).
    explicit EigenLLT(SparseMatrix const& matrix) : EigenLLT() { this->compute(matrix); }
};

/// Factorization A = L D L^H of a real symmetric or Hermitian matrix, which may be indefinite; D has 1 x 1
/// and 2 x 2 blocks. `Flags` is Eigen::Lower or Eigen::Upper; with `| Eigen::Symmetric` a complex matrix is
/// symmetric, A = L D L^T.
template <class SparseMatrix, int Flags = Eigen::Lower> class EigenLDLT
    : public EigenSolver<EigenLDLT<SparseMatrix, Flags>, SparseMatrix> {
    using Base = EigenSolver<EigenLDLT, SparseMatrix>;
    static constexpr int triangle = Flags & ~static_cast<int>(Eigen::Symmetric);
    static constexpr Symmetry symmetry = eigen_symmetry<typename SparseMatrix::Scalar, Flags>;
    static_assert(triangle == Eigen::Lower || triangle == Eigen::Upper, "Eigen::Lower or Eigen::Upper");

  public:
    enum { UpLo = triangle };
    /// A solver without a matrix.
    EigenLDLT()
        : Base(symmetry == Symmetry::hermitian ? Factorization::ldlh : Factorization::ldlt, symmetry,
               triangle) {}
    /// Calls compute(matrix).
    explicit EigenLDLT(SparseMatrix const& matrix) : EigenLDLT() { this->compute(matrix); }
};

template <class SparseMatrix> class EigenLU;

/// The result of EigenLU::transpose() and adjoint(): solves with A^T or A^H by the factors of A. It refers to
/// the EigenLU and must not outlive it.
template <class SparseMatrix, MatrixOp op> class EigenLUView
    : public Eigen::SparseSolverBase<EigenLUView<SparseMatrix, op>> {
  public:
    /// The interface of an Eigen solver.
    /// @{
    using MatrixType = SparseMatrix;
    using Scalar = typename MatrixType::Scalar;
    using StorageIndex = typename MatrixType::StorageIndex;
    enum {
        ColsAtCompileTime = MatrixType::ColsAtCompileTime,
        MaxColsAtCompileTime = MatrixType::MaxColsAtCompileTime
    };

    /// A view of the factors in `lu`.
    explicit EigenLUView(EigenLU<SparseMatrix> const& lu) : lu_(lu) { this->m_isInitialized = true; }
    [[nodiscard]] Eigen::Index rows() const { return lu_.cols(); }
    [[nodiscard]] Eigen::Index cols() const { return lu_.rows(); }
    [[nodiscard]] Eigen::ComputationInfo info() const { return lu_.info(); }

    template <class Rhs, class Dest>
    void _solve_impl(Eigen::MatrixBase<Rhs> const& b, Eigen::MatrixBase<Dest>& x) const {
        lu_.solve_as(op, b, x);
    }
    template <class Rhs, class Dest>
    void _solve_impl(Eigen::SparseMatrixBase<Rhs> const& b, Eigen::SparseMatrixBase<Dest>& x) const {
        lu_.solve_as(op, b, x);
    }
    /// @}

  private:
    EigenLU<SparseMatrix> const& lu_;
};

/// Factorization A = L U of a square matrix, with scaling and a matching of its rows if that helps.
template <class SparseMatrix> class EigenLU : public EigenSolver<EigenLU<SparseMatrix>, SparseMatrix> {
    using Base = EigenSolver<EigenLU, SparseMatrix>;

  public:
    /// A solver without a matrix.
    EigenLU() : Base(Factorization::lu, Symmetry::general) {}
    /// Calls compute(matrix).
    explicit EigenLU(SparseMatrix const& matrix) : EigenLU() { this->compute(matrix); }

    /// lu.transpose().solve(b) solves A^T x = b.
    [[nodiscard]] EigenLUView<SparseMatrix, MatrixOp::transpose> transpose() const {
        return EigenLUView<SparseMatrix, MatrixOp::transpose>(*this);
    }
    /// lu.adjoint().solve(b) solves A^H x = b.
    [[nodiscard]] EigenLUView<SparseMatrix, MatrixOp::adjoint> adjoint() const {
        return EigenLUView<SparseMatrix, MatrixOp::adjoint>(*this);
    }
};

} // namespace espalier
