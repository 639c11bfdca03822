// Espalier as one of Eigen's sparse solvers: EigenLLT, EigenLDLT and EigenLU stand where SimplicialLLT,
// SimplicialLDLT and SparseLU do.
//
//     Eigen::SparseMatrix<double> A = ...;
//     espalier::EigenLDLT<Eigen::SparseMatrix<double>> solver(A);    // or compute(A)
//     if (solver.info() != Eigen::Success) ...
//     Eigen::VectorXd x = solver.solve(b);
//
// Beyond what Eigen's do, solve() refines and checks its answer: when the backward error is above the
// tolerance info() is Eigen::NumericalIssue, as after a factorization that failed. Needs Eigen 3.3 or later.
#pragma once

#include "espalier/eigen_solver.hpp"

namespace espalier {

/// Symmetry of what a class for self-adjoint matrices reads: symmetric when real or asked for by
/// Eigen::Symmetric, else Hermitian.
template <class Scalar, int Flags> inline constexpr Symmetry eigen_symmetry =
    Eigen::NumTraits<Scalar>::IsComplex && !(Flags & Eigen::Symmetric) ? Symmetry::hermitian
                                                                       : Symmetry::symmetric;

/// Cholesky, A = L L^H, of a real symmetric or Hermitian positive definite matrix, of which the triangle
/// `Flags` (Eigen::Lower or Eigen::Upper) is read. Not positive definite: info() is NumericalIssue.
template <class SparseMatrix, int Flags = Eigen::Lower> class EigenLLT
    : public EigenSolver<EigenLLT<SparseMatrix, Flags>, SparseMatrix> {
    using Base = EigenSolver<EigenLLT, SparseMatrix>;
    static_assert(Flags == Eigen::Lower || Flags == Eigen::Upper, "Eigen::Lower or Eigen::Upper");

  public:
    enum { UpLo = Flags };
    /// Without a matrix yet.
    EigenLLT() : Base(Factorization::llh, eigen_symmetry<typename SparseMatrix::Scalar, Flags>, Flags) {}
    /// compute(matrix)
    explicit EigenLLT(SparseMatrix const& matrix) : EigenLLT() { this->compute(matrix); }
};

/// A = L D L^H of a real symmetric or Hermitian matrix, which may be indefinite: D has 1 x 1 and 2 x 2
/// blocks. `Flags` is Eigen::Lower or Eigen::Upper; with `| Eigen::Symmetric` a complex matrix is taken as
/// symmetric, A = L D L^T.
template <class SparseMatrix, int Flags = Eigen::Lower> class EigenLDLT
    : public EigenSolver<EigenLDLT<SparseMatrix, Flags>, SparseMatrix> {
    using Base = EigenSolver<EigenLDLT, SparseMatrix>;
    static constexpr int triangle = Flags & ~static_cast<int>(Eigen::Symmetric);
    static constexpr Symmetry symmetry = eigen_symmetry<typename SparseMatrix::Scalar, Flags>;
    static_assert(triangle == Eigen::Lower || triangle == Eigen::Upper, "Eigen::Lower or Eigen::Upper");

  public:
    enum { UpLo = triangle };
    /// Without a matrix yet.
    EigenLDLT()
        : Base(symmetry == Symmetry::hermitian ? Factorization::ldlh : Factorization::ldlt, symmetry,
               triangle) {}
    /// compute(matrix)
    explicit EigenLDLT(SparseMatrix const& matrix) : EigenLDLT() { this->compute(matrix); }
};

template <class SparseMatrix> class EigenLU;

/// What EigenLU::transpose() and adjoint() give: solves with A^T or A^H by the factors of A. It refers to the
/// EigenLU and must not outlive it.
template <class SparseMatrix, MatrixOp op> class EigenLUView
    : public Eigen::SparseSolverBase<EigenLUView<SparseMatrix, op>> {
  public:
    /// What Eigen asks of a solver.
    /// @{
    using MatrixType = SparseMatrix;
    using Scalar = typename MatrixType::Scalar;
    using StorageIndex = typename MatrixType::StorageIndex;
    enum {
        ColsAtCompileTime = MatrixType::ColsAtCompileTime,
        MaxColsAtCompileTime = MatrixType::MaxColsAtCompileTime
    };

    /// Of these factors.
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

/// A = L U of a square matrix, rows matched and both sides scaled where that helps.
template <class SparseMatrix> class EigenLU : public EigenSolver<EigenLU<SparseMatrix>, SparseMatrix> {
    using Base = EigenSolver<EigenLU, SparseMatrix>;

  public:
    /// Without a matrix yet.
    EigenLU() : Base(Factorization::lu, Symmetry::general) {}
    /// compute(matrix)
    explicit EigenLU(SparseMatrix const& matrix) : EigenLU() { this->compute(matrix); }

    /// lu.transpose().solve(b): A^T x = b.
    [[nodiscard]] EigenLUView<SparseMatrix, MatrixOp::transpose> transpose() const {
        return EigenLUView<SparseMatrix, MatrixOp::transpose>(*this);
    }
    /// lu.adjoint().solve(b): A^H x = b.
    [[nodiscard]] EigenLUView<SparseMatrix, MatrixOp::adjoint> adjoint() const {
        return EigenLUView<SparseMatrix, MatrixOp::adjoint>(*this);
    }
};

} // namespace espalier
