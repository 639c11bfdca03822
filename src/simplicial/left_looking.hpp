// The first factorization of SimplicialLu: pivots, pattern and values of the factors, column by column.
#pragma once

#include "simplicial/simplicial_lu.hpp"

namespace espalier {

/// Factorizes the blocks of a SimplicialLu whose scales are set. Rows of a block have local numbers from 0 in
/// the order of the plan until the block is complete.
template <class T> class LeftLooking {
  public:
    LeftLooking(SimplicialLu<T>& lu, CscMatrix<T> const& a, SimplicialLuOptions const& options);

    /// Sets row_, lower_, upper_, between_ and the pivots.
    void run();

  private:
    void factorize_single(std::int32_t k);
    void factorize_block(std::int32_t first, std::int32_t size);
    void factorize_column(std::int32_t k);
    void find_pattern(std::int32_t column);
    void search(std::int32_t row);
    void eliminate();
    void store_between();
    std::int32_t choose_pivot();
    void take_pivot(std::int32_t pivot_row);
    void prune(std::int32_t pivot_row);
    T sound_pivot(T pivot);
    void check_size() const;

    SimplicialLu<T>& lu_;
    CscMatrix<T> const& a_;
    SimplicialLuOptions const& options_;
    BlockTriangularForm const& form_;
    std::vector<std::int32_t> place_; // by row of A: as planned, and after pivoting for complete blocks

    // The current block.
    std::int32_t first_ = 0, size_ = 0;
    std::vector<std::int32_t> position_;                       // by row: its number as a pivot, or -1
    std::vector<std::int32_t> diagonal_row_, diagonal_column_; // columns and rows without pivot
    std::vector<std::int32_t> pruned_; // the searched entries of each column of L, or -1 for all
    std::vector<std::int32_t> mark_;   // the last column that reached a row
    std::vector<std::int32_t> stack_, path_, next_;
    std::vector<T> x_;

    // The current column.
    std::int32_t k_ = 0;
    std::int32_t top_ = 0;        // stack_[top_ .. size_) are the reached pivot rows in topological order
    std::int32_t candidates_ = 0; // the reached rows without pivot are at the end of lower_
    std::vector<std::int32_t> between_rows_;
    std::vector<T> between_values_;
};

} // namespace espalier
