// LU factorization of an irregular sparse matrix without supernodes, for circuits and other systems whose
// factors are too sparse for dense blocks. Input: a LuPlan and the values of the matrix; output: the
// factors
//
//     B = P R A C Q,   B_bb = L_b U_b for each diagonal block b of the block triangular form,
//
// with powers of two in R and C. The first factorization is left-looking: each column is solved with the
// columns of L before it, whose pattern a depth-first search finds (Gilbert and Peierls 1988) on pruned
// columns (Eisenstat and Liu 1993). Pivots are the largest entry of the column, or the diagonal entry if it
// is almost as large (KLU: Davis and Palamadai Natarajan 2010). A refactorization takes pivots, scales and
// pattern as they are, and needs no search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/espalier.hpp"
#include "simplicial/growing_array.hpp"
#include "simplicial/lu_plan.hpp"

namespace espalier {

struct SimplicialLuOptions {
    /// A diagonal entry of at least this part of the largest entry is the pivot.
    double diagonal_preference = 1e-3;
    /// Pivots below this bound are replaced. The largest entry of each column is between 1 and 2.
    double pivot_threshold = 0;
    double replacement = 0; ///< The modulus of replaced pivots.
    /// factorize() and refactorize() accept this growth of the entries during the elimination, and
    /// refactorize() at most 1 / sqrt(epsilon).
    double most_growth = infinity;
    std::uint64_t max_bytes = 0; ///< Most memory of the factors; 0 for no limit.
    Offset most_entries = 0;     ///< factorize() gives up if nnz() is larger; 0 for no limit.
    Interrupt* interrupt = nullptr;
};

template <class T> class SimplicialLu {
  public:
    /// Drops the factors. `plan` must outlive their use.
    void set_plan(LuPlan const& plan);
    [[nodiscard]] LuPlan const& plan() const { return *plan_; }
    void clear();

    /// Factorizes a matrix (general storage) with the pattern of the plan, and chooses scales and pivots.
    /// Returns false as soon as the entries grow too much, which larger pivots prevent. Errors:
    /// {out_of_memory} if the factors exceed max_bytes, {inaccurate} if they exceed most_entries, and
    /// {cancelled}. There are no factors then.
    [[nodiscard]] bool factorize(CscMatrix<T> const& a, SimplicialLuOptions const& options);
    /// Factorizes other values with the scales, pivots and pattern of the last factorization. Returns false
    /// if a pivot is below the threshold, if the entries grow too much (and ten times as much as when the
    /// pivots were chosen), or if the values are 2^20 times as large as those before; there are no factors
    /// then, and factorize() has to choose again. Allocates nothing. Error{cancelled}.
    [[nodiscard]] bool refactorize(CscMatrix<T> const& a, SimplicialLuOptions const& options);

    [[nodiscard]] bool has_factors() const { return has_factors_; }
    /// Whether refactorize() can be used, because factorize() has chosen pivots and replaced none.
    [[nodiscard]] bool can_refactorize() const { return has_pivots_ && pivots_replaced_ == 0; }

    /// x := op(A)^-1 x for `columns` vectors of n entries. Allocates nothing after the first call.
    void solve(std::span<T> x, Index columns, MatrixOp op);

    [[nodiscard]] Index pivots_replaced() const { return pivots_replaced_; }
    /// The smallest modulus of a pivot, for columns whose largest entry is about 1; infinite if n = 0.
    [[nodiscard]] double smallest_pivot() const { return smallest_pivot_; }
    /// The largest modulus in the elimination that chose the pivots, for columns whose largest entry is
    /// about 1.
    [[nodiscard]] double growth() const { return growth_; }
    /// Entries of L + U and between the diagonal blocks, and operations of a refactorization.
    [[nodiscard]] Offset nnz() const { return lower_.size() + upper_.size() + std::ssize(pivot_); }
    [[nodiscard]] double flops() const;
    [[nodiscard]] std::uint64_t bytes() const;
    /// det A = phase * exp(log_modulus) without replaced pivots.
    [[nodiscard]] Determinant<T> determinant() const;
    /// A(p, q) = L U of the factorized matrix, without scales, and with all entries that elimination fills. L
    /// is block diagonal; the entries of U between the blocks are computed by solves. Error{cancelled}.
    [[nodiscard]] Factors<T> explicit_factors(Interrupt* interrupt) const;

  private:
    template <class> friend class LeftLooking;

    /// Columns of L without the unit diagonal, or of U without the diagonal. Rows are positions of B.
    struct Columns {
        std::vector<Offset> ptr;
        GrowingArray<std::int32_t> ind;
        GrowingArray<T> values;

        [[nodiscard]] Offset size() const { return static_cast<Offset>(ind.size()); }
        [[nodiscard]] std::uint64_t bytes() const {
            return ind.capacity() * (sizeof(T) + sizeof(std::int32_t));
        }
        /// Makes room for `more` entries after the used ones.
        void make_room(Offset more);
    };

    void choose_scales(CscMatrix<T> const& a);
    /// `place` is the position of each row of A.
    void place_entries(CscMatrix<T> const& a, std::span<std::int32_t const> place);
    bool refactorize_block(CscMatrix<T> const& a, std::int32_t first, std::int32_t last,
                           SimplicialLuOptions const& options);
    void scatter_column(CscMatrix<T> const& a, std::int32_t k, std::int32_t first_of_block,
                        Real<T>& largest_entry);
    Real<T> eliminate_column(std::int32_t k);
    Real<T> divide_column(std::int32_t k, Real<T> largest);
    void set_pivot(std::int32_t k, T pivot);
    template <int W> void solve_group(T* x, MatrixOp op);
    template <int W> void solve_plain(T* work) const;
    template <int W, bool conjugates> void solve_transposed(T* work) const;

    LuPlan const* plan_ = nullptr;
    bool has_pivots_ = false, has_factors_ = false;
    std::vector<std::int32_t> row_;      ///< The row of A at each position, after pivoting.
    std::vector<std::int32_t> position_; ///< The position of the row of each entry of A.
    std::vector<Real<T>> row_scale_;     ///< R by row of A.
    std::vector<Real<T>> column_scale_;  ///< C by column of A.
    std::vector<Real<T>> scale_;         ///< R by position.
    Columns lower_, upper_;              ///< U contains the entries between the blocks.
    std::vector<Offset> between_;        ///< By column of U: the first entry between the blocks.
    /// By column of L: whether it has the rows of the column before without the first one, in the same order.
    std::vector<std::uint8_t> is_joined_;
    std::vector<T> pivot_, inverse_;     ///< The diagonal of U, and its inverses.
    std::vector<T> column_;              ///< The column that is refactorized; zero in between.
    std::vector<T> work_;                ///< Workspace of solves.
    double growth_ = 0;                  ///< The largest number in the elimination that chose the pivots.
    double largest_ = 0;                 ///< The largest scaled entry of a refactorization.
    double smallest_pivot_ = infinity;
    Index pivots_replaced_ = 0;
};

} // namespace espalier
