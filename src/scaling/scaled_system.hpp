// The system B y = b' that is factorized instead of A x = b: B = P R A C with the row permutation P and the
// scales R and C of a ScalingChoice, y = C^-1 x and b' = P R b. A ScaledSystem converts matrices and vectors
// between the two; its accessors give the scale and the place of each row, for vectors whose rows are
// distributed.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "scaling/scaling_choice.hpp"

namespace espalier {

/// A chosen transformation of linear systems with matrices in scalars T.
template <class T> class ScaledSystem {
  public:
    ScaledSystem() = default;
    /// Chooses P, R and C from the values of `a`; see choose_scaling() for the errors.
    ScaledSystem(CscMatrix<T> const& a, ScalingOptions const& options)
        : choice_(choose_scaling(a, options)),
          expands_(options.kind == Factorization::lu && a.symmetry != Symmetry::general) {}

    [[nodiscard]] ScalingChoice const& choice() const { return choice_; }
    /// Whether B is A itself, so that no copy is needed.
    [[nodiscard]] bool is_identity() const { return !is_scaled() && !is_permuted() && !expands_; }
    /// Whether B has general storage, and A is stored as a triangle.
    [[nodiscard]] bool expands() const { return expands_; }
    [[nodiscard]] bool is_permuted() const { return !choice_.row_place.empty(); }
    [[nodiscard]] bool is_scaled() const { return !choice_.row_scale.empty(); }
    [[nodiscard]] bool is_matched() const { return choice_.matched; }
    /// Structural rank (of the interior block if there is a Schur complement); -1 if unknown.
    [[nodiscard]] Index structural_rank() const { return choice_.structural_rank; }
    /// Rows to be eliminated together (ldlt, ldlh).
    [[nodiscard]] std::vector<std::pair<Index, Index>> const& pairs() const { return choice_.pairs; }

    /// Scale R(i, i) of row i of A, a power of two.
    [[nodiscard]] double row_scale(Index i) const { return is_scaled() ? choice_.row_scale[i] : 1.0; }
    /// Scale C(j, j) of column j of A, a power of two.
    [[nodiscard]] double column_scale(Index j) const { return is_scaled() ? choice_.column_scale[j] : 1.0; }
    /// The row of B that row i of A becomes.
    [[nodiscard]] Index row_place(Index i) const { return is_permuted() ? choice_.row_place[i] : i; }

    /// B for the given values on the pattern that P, R and C were chosen for.
    [[nodiscard]] CscMatrix<T> apply(CscMatrix<T> const& a) const;

    /// Whether factors of `b` = apply(a) that were changed in place keep half of their digits: with scales,
    /// the largest modulus of each row and column is off 1 by at most 1 / sqrt(roundoff).
    [[nodiscard]] bool suits(CscMatrix<T> const& b, double roundoff) const;

    /// Whether the scales do not fit the values of `a`, of which `b` = apply(a): the largest modulus of a row
    /// or column of b is off 1 by more than 2^8 (2^4 in single precision), or a row has become zero. Without
    /// scales, because they were uniform, the moduli must be as close to each other. Always false if the
    /// system is not to be scaled. Rows and columns in `schur`, those of a Schur complement, remain unscaled
    /// and do not count.
    [[nodiscard]] bool is_out_of_scale(CscMatrix<T> const& a, CscMatrix<T> const& b,
                                       std::span<Index const> schur = {}) const;
    /// Adapts the scales to the values of `a` and returns apply(a). An exception leaves this system
    /// unchanged.
    [[nodiscard]] CscMatrix<T> rescale(CscMatrix<T> const& a, std::span<Index const> schur = {});

    /// Converts a right-hand side of op(A) x = b to that of op(B) y = b', in place; n x columns.
    void to_working(std::span<T> b, Index columns, MatrixOp op = MatrixOp::none) const;
    /// Converts a solution y of op(B) y = b' to x, in place; n x columns.
    void from_working(std::span<T> y, Index columns, MatrixOp op = MatrixOp::none) const;
    /// Converts a solution x of op(A) x = b to y, in place; n x columns.
    void solution_to_working(std::span<T> x, Index columns, MatrixOp op = MatrixOp::none) const;
    /// Converts a sparse right-hand side with general storage, n x columns.
    [[nodiscard]] CscMatrix<T> to_working(CscMatrix<T> b, MatrixOp op) const;

    /// Whether P is an odd permutation: det A = det B * (-1)^odd() * exp(log_factor()).
    [[nodiscard]] bool odd() const;
    /// Logarithm of 1 / (det R det C).
    [[nodiscard]] double log_factor() const;

  private:
    void scale(std::span<T> block, Index columns, std::vector<double> const& by, bool inverse) const;
    void permute(std::span<T> block, Index columns, bool inverse) const;
    void permute_rows(CscMatrix<T>& a) const;
    [[nodiscard]] bool loses_entries(CscMatrix<T> const& a) const;

    ScalingChoice choice_;
    bool expands_ = false;
};

} // namespace espalier
