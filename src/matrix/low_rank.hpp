// Sums of a sparse matrix and a term of low rank with few entries.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "espalier/matrix.hpp"

namespace espalier {

/// The number of products in W W^H, or in its lower triangle unless `symmetry` is general, before those of
/// one entry are summed. A double, because it may be larger than any index.
template <class T> double count_products(CscMatrix<T> const& w, Symmetry symmetry);

/// sign W W^H on the pattern of its products, with this symmetry: W W^T if it is symmetric.
template <class T> CscMatrix<T> outer_product(CscMatrix<T> const& w, int sign, Symmetry symmetry);

/// Changes A to A + S, for matrices of the same size and symmetry, and can take that back.
template <class T> class MatrixChange {
  public:
    /// A becomes A + S on the union of their patterns, and must outlive this.
    MatrixChange(CscMatrix<T>& a, CscMatrix<T> const& s);

    /// Whether A has the same pattern as before.
    [[nodiscard]] bool keeps_pattern() const { return keeps_pattern_; }
    /// Row and column of an entry of A + S that is not finite, if there is one.
    [[nodiscard]] std::optional<std::pair<Index, Index>> overflow() const { return overflow_; }
    /// Gives A the bits that it had before. Called once at most.
    void undo();

  private:
    void add_to_pattern(CscMatrix<T> const& s);
    /// The sum of two values of entry (i, j).
    T sum(Index i, Index j, T a, T s);

    CscMatrix<T>& a_;
    bool keeps_pattern_ = true;
    std::vector<Offset> places_; // by entry of S: its place in A
    std::vector<T> old_values_;  // at these places
    CscMatrix<T> old_;           // if the pattern has changed
    std::optional<std::pair<Index, Index>> overflow_;
};

} // namespace espalier
