// The system that is really factorized: B = P R A C, with scalings R and C by powers of two (which round
// nothing) and a row permutation P that brings large entries onto the diagonal.
//
//   llh, llt     B = A, or S A S where scaling is asked for
//   ldlt, ldlh   B = S A S, rows and columns of largest modulus about 1 (Ruiz 2001); where a diagonal entry
//   is
//                weak then, S of a maximum-product matching, whose pairs want to be 2x2 pivots (Duff, Pralet
//                2005)
//   lu           the same with R and C apart, when every diagonal entry is strong then; else P, R and C of a
//                maximum-product matching (Duff and Koster 2001)
//
// Unknowns of a Schur complement are left as they are: P, R and C come from the interior block alone.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// What is asked of a working system.
struct ScalingOptions {
    Factorization kind = Factorization::lu;
    Toggle matching = Toggle::automatic;
    Toggle scaling = Toggle::automatic;
    bool allow_singular = false; ///< Match as far as it goes where the structural rank is deficient.
    std::span<Index const> schur = {};
    Interrupt* interrupt = nullptr;
};

template <class T> class ScaledSystem {
  public:
    ScaledSystem() = default;
    /// Decides P, R and C from the values of `a`. Error{singular} with the structural rank when no
    /// permutation has a diagonal without zeros; looked at only where a diagonal entry is weak.
    ScaledSystem(CscMatrix<T> const& a, ScalingOptions const& options);

    /// B is A itself, so that no copy is needed.
    [[nodiscard]] bool is_identity() const {
        return row_scale_.empty() && place_of_row_.empty() && !expands_;
    }
    [[nodiscard]] bool is_permuted() const { return !place_of_row_.empty(); }
    [[nodiscard]] bool is_scaled() const { return !row_scale_.empty(); }
    [[nodiscard]] bool is_matched() const { return matched_; }
    /// Known where a matching was looked for, else -1. Of the interior where there is a Schur complement.
    [[nodiscard]] Index structural_rank() const { return structural_rank_; }
    /// Rows to be eliminated together (ldlt, ldlh).
    [[nodiscard]] std::vector<std::pair<Index, Index>> const& pairs() const { return pairs_; }

    /// B for this or other values on the same pattern, with the P, R and C decided once.
    [[nodiscard]] CscMatrix<T> apply(CscMatrix<T> const& a) const;

    /// Where values other than those that R and C were made for have spoiled the scale of `b` = apply(a) (a
    /// row or column is off by more than 2^8), new scales for b and this system. Not with a Schur complement.
    void rescale(CscMatrix<T>& b);

    /// From op(A) x = b to op(B) y = b', in place, n x columns: to_working(b), y to x and back.
    void to_working(std::span<T> b, Index columns, MatrixOp op = MatrixOp::none) const;
    void from_working(std::span<T> y, Index columns, MatrixOp op = MatrixOp::none) const;
    void solution_to_working(std::span<T> x, Index columns, MatrixOp op = MatrixOp::none) const;
    /// to_working of a sparse block (n x columns, stored in full).
    [[nodiscard]] CscMatrix<T> to_working(CscMatrix<T> b, MatrixOp op) const;

    /// det A = det B * (-1)^odd() * exp(log_factor()).
    [[nodiscard]] bool odd() const;
    [[nodiscard]] double log_factor() const;

  private:
    void decide(CscMatrix<T> const& a, ScalingOptions const& options);
    void match(CscMatrix<T> const& a, ScalingOptions const& options);
    void set_scales(std::vector<double> rows, std::vector<double> columns);
    void lift(std::vector<Index> const& interior, Index n);
    void scale(std::span<T> block, Index columns, std::vector<double> const& by, bool inverse) const;
    void permute(std::span<T> block, Index columns, bool inverse) const;

    std::vector<double> row_scale_; // empty: ones
    std::vector<double> column_scale_;
    std::vector<Index> place_of_row_; // empty: identity
    std::vector<std::pair<Index, Index>> pairs_;
    Index structural_rank_ = -1;
    bool matched_ = false;
    bool expands_ = false; // lu on a matrix that is stored as a triangle
};

/// The rows and columns of `a` that are not in `removed` (distinct, in range), ascending.
template <class T> CscMatrix<T> interior_block(CscMatrix<T> const& a, std::span<Index const> removed);

} // namespace espalier
