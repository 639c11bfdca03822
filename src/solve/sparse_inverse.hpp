// The entries of the inverse on the pattern of factors that are sparse matrices, column by column (Takahashi,
// Fagan, Chin 1973; Erisman, Tinney 1975). It serves factors without column blocks, and those with delayed
// columns; selected_inverse.hpp serves all others in less time.
//
// With Z = (L U)^-1, or Z = (L D L^op)^-1, for each column j from the last one up, and for k, i > j:
//
//     Z_ij = -sum_k Z_ik L_kj    Z_ji = -sum_k U_jk Z_ki / U_jj    Z_jj = (1 - sum_k U_jk Z_kj) / U_jj
//     Z_ij = -sum_k Z_ik L_kj    Z_jj = D_jj^-1 - sum_k L_kj^op Z_kj
//
// The two columns of a 2 x 2 pivot are one step. The sums need only the computed entries if the pattern
// contains all fill, so the factors must include entries that happen to be zero.
#pragma once

#include <optional>
#include <vector>

#include "core/interrupt.hpp"
#include "espalier/espalier.hpp"

namespace espalier {

template <class T> class SparseInverse {
  public:
    /// Takes the factors of llh, ldlt, ldlh or lu, with sorted columns and without missing fill. `conjugate`:
    /// the factors are L L^H or L D L^H. Runs on the calling thread. Error{cancelled}.
    SparseInverse(Factors<T> factors, bool conjugate, Interrupt* interrupt);

    /// The entry of A^-1 in row i and column j; nullopt outside of the pattern. Logarithmic in the length of
    /// a column.
    [[nodiscard]] std::optional<T> entry(Index i, Index j) const;

  private:
    /// Part of a column, without its diagonal entry.
    struct Column {
        Index const* rows;
        T* values;
        Index size;
    };
    static Column below(CscMatrix<T>& matrix, Index j, Index skipped = 1);
    void add_products(CscMatrix<T>& after, CscMatrix<T>& before, Column const& by, Column const& targets,
                      bool conjugate_before);
    void take_sums(Column const& targets, std::vector<T>& values, T factor);
    void invert_general(Index j);
    Index invert_symmetric(Index j, CscMatrix<T> const& diagonal, bool conjugate);

    CscMatrix<T> lower_; ///< L, overwritten column by column with Z_ji.
    CscMatrix<T>
        upper_; ///< U^T, overwritten with Z_ij. Empty for symmetric factors, where Z_ij overwrites L.
    bool conjugate_;
    std::vector<Index> row_place_, column_place_; ///< By row and column of A: its place in the factors.
    std::vector<T> by_, sums_;
    std::vector<char> is_target_;
};

} // namespace espalier
