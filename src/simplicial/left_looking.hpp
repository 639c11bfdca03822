// The first factorization of SimplicialLu: pivots, pattern and values of the factors, column by column.
#pragma once

#include "simplicial/simplicial_lu.hpp"

namespace espalier {

/// Factorizes the blocks of a SimplicialLu whose scales are set. Rows of a block have local numbers from 0 in
/// the order of the plan until the block is complete.
template <class T> class LeftLooking {
  public:
    LeftLooking(SimplicialLu<T>& lu, CscMatrix<T> const& a, SimplicialLuOptions const& options);

    /// Sets row_, lower_, upper_, between_ and the pivots. Returns false if the entries grow too much.
    [[nodiscard]] bool run();

    /// The position of each row of A after run().
    [[nodiscard]] std::span<std::int32_t const> place() const { return place_; }

  private:
    struct Row {
        std::int32_t position; ///< Its number as a pivot, or -1.
        std::int32_t mark;     ///< The last column that reached it.
    };
    /// A column of L.
    struct Column {
        Offset begin;
        std::int32_t size;
        std::int32_t searched; ///< The rows that searches visit, or -1 for all.
    };
    /// A pivot row that the current column reaches, and its column of L.
    struct Reached {
        std::int32_t row, position;
        Offset begin;
        std::int32_t size;
        bool is_pruned;
    };
    /// A step of the path of a search.
    struct Step {
        Reached reached;
        std::int32_t unvisited; ///< The search has not visited this many rows of the column yet.
    };

    void factorize_single(std::int32_t k);
    [[nodiscard]] bool factorize_block(std::int32_t first, std::int32_t size);
    void factorize_column(std::int32_t k);
    void find_pattern(std::int32_t column);
    void search(std::int32_t row);
    [[nodiscard]] Step first_step(std::int32_t pivot_row) const;
    [[nodiscard]] std::int32_t next_pivot_row(Step& step);
    void eliminate();
    void store_between();
    std::int32_t choose_pivot();
    void take_pivot(std::int32_t pivot_row);
    void prune(std::int32_t pivot_row);
    void swap_rows(std::int32_t column, std::int32_t one, std::int32_t other);
    void store_lower(std::int32_t pivot_row);
    [[nodiscard]] bool has_rows_of_previous(std::int32_t pivot_row) const;
    T sound_pivot(T pivot);
    void check_size() const;

    SimplicialLu<T>& lu_;
    CscMatrix<T> const& a_;
    SimplicialLuOptions const& options_;
    BlockTriangularForm const& form_;
    std::vector<std::int32_t> place_; // by row of A: as planned, and after pivoting for complete blocks

    // The current block.
    std::int32_t first_ = 0, size_ = 0;
    GrowingArray<Row> rows_;
    GrowingArray<Column> columns_;
    GrowingArray<std::int32_t> diagonal_row_, diagonal_column_; // columns and rows without pivot
    GrowingArray<Step> path_;
    GrowingArray<Reached> stack_;
    std::vector<T> x_;

    // The current column.
    std::int32_t k_ = 0;
    std::int32_t previous_pivot_row_ = -1;
    int joined_columns_ = 0;      // the previous column and those that it is joined to
    std::int32_t top_ = 0;        // stack_[top_ .. size_) are the reached pivot rows in topological order
    std::int32_t candidates_ = 0; // the reached rows without pivot are at the end of lower_
    std::vector<std::int32_t> between_rows_;
    std::vector<T> between_values_;
};

} // namespace espalier
