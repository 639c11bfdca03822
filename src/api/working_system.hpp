// The system that is really factorized: B = R P A C, with scalings R and C by powers of two (which round
// nothing) and a row permutation P that brings large entries onto the diagonal.
//
//   llh, llt     B = A
//   ldlt, ldlh   B = S A S, rows and columns of largest modulus about 1 (Ruiz 2001); where a diagonal entry
//   is
//                weak then, S of a maximum-product matching, whose pairs want to be 2x2 pivots (Duff, Pralet
//                2005)
//   lu           the same with R and C apart, when every diagonal entry is strong then; else P, R and C of a
//                maximum-product matching (Duff and Koster 2001)
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

template <class T> class WorkingSystem {
  public:
    WorkingSystem() = default;
    /// Decides P, R and C from the values of `a`. Error{singular} with the structural rank when no
    /// permutation has a diagonal without zeros.
    WorkingSystem(CscMatrix<T> const& a, Factorization kind);

    /// B is A itself, so that no copy is needed.
    [[nodiscard]] bool is_identity() const {
        return row_scale_.empty() && place_of_row_.empty() && !expands_;
    }
    [[nodiscard]] bool is_permuted() const { return !place_of_row_.empty(); }
    [[nodiscard]] bool is_scaled() const { return !row_scale_.empty(); }
    /// Rows to be eliminated together (ldlt, ldlh).
    [[nodiscard]] std::vector<std::pair<Index, Index>> const& pairs() const { return pairs_; }

    /// B for this or other values on the same pattern, with the P, R and C decided once.
    [[nodiscard]] CscMatrix<T> apply(CscMatrix<T> const& a) const;

    /// b := P R b in place, the right-hand side of B y = P R b; x := C y, and back y := C^-1 x. n x columns.
    void to_working(std::span<T> b, Index columns) const;
    void from_working(std::span<T> y, Index columns) const;
    void solution_to_working(std::span<T> x, Index columns) const;

  private:
    void set_scales(std::vector<double> rows, std::vector<double> columns);

    std::vector<double> row_scale_; // empty: ones
    std::vector<double> column_scale_;
    std::vector<Index> place_of_row_; // empty: identity
    std::vector<std::pair<Index, Index>> pairs_;
    bool expands_ = false; // lu on a matrix that is stored as a triangle
};

} // namespace espalier
