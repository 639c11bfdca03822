// The analysis of a symmetric factorization without supernodes. Input: the lower or upper triangle of a
// symmetric or Hermitian matrix; output: pivot blocks of one or two rows in the order of elimination, and the
// pattern of L. Positive definite matrices have blocks of one row. In others, rows with weak diagonal entries
// form pairs with rows in which they have large entries, because 2 x 2 pivots are then likely to be stable.
// These pairs are those of a maximum-product matching (Duff and Pralet 2005), or chosen greedily, which takes
// a small part of its time.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "simplicial/plan_result.hpp"

namespace espalier {

/// Blocks and rows have numbers in the order of elimination. Block k has the rows first[k] .. first[k + 1]
/// - 1.
struct LdlPlan {
    std::vector<std::int32_t> row;   ///< The row of A at each position.
    std::vector<std::int32_t> first; ///< The first row of each block, and the end.
    bool is_definite = false;        ///< Whether all pivots are single, and expected to be positive.
    bool is_matched = false;         ///< Whether the pairs are MatchedRows.
    std::vector<double> scale;       ///< MatchedRows::scale, or empty.

    // The entries of A in the rows of block k, one after the other from entry_ptr[k] on: at `value` of the
    // array of A, in position (row of the block, column). The transpose of the stored entry is meant if
    // is_transposed.
    struct Entry {
        std::int32_t value;
        std::int32_t column;
        std::int8_t row; ///< 0 or 1, within the block.
        bool is_transposed;
    };
    std::vector<std::int32_t> entry_ptr;
    std::vector<Entry> entries;

    // Blocks j < k with L(k, j) != 0, in an order in which descendants precede ancestors.
    std::vector<std::int32_t> pattern_ptr;
    std::vector<std::int32_t> pattern;

    // The rows of L below block k, ascending, and its first value.
    std::vector<std::int32_t> row_ptr;
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> value_ptr;

    Offset nnz_factor = 0; ///< Entries of L with its diagonal; those of a 2 x 2 pivot count as one triangle.
    double flops = 0;      ///< Multiplications and additions.

    [[nodiscard]] Index order() const { return std::ssize(row); }
    [[nodiscard]] std::int32_t num_blocks() const { return static_cast<std::int32_t>(first.size()) - 1; }
    [[nodiscard]] int width(std::int32_t block) const { return first[block + 1] - first[block]; }
    /// The memory in bytes of plan and factors with scalars of `scalar_bytes`.
    [[nodiscard]] std::uint64_t bytes(std::size_t scalar_bytes) const;
};

/// Rows that are to be eliminated in pairs, and scales with which the entries of these pairs, and the
/// diagonal entries of the other rows, are large.
struct MatchedRows {
    std::span<std::pair<Index, Index> const> pairs;
    std::span<double const> scale; ///< Powers of two by row of A. Empty if all are 1.
};

/// Multiplies positive powers of two by powers of two such that the largest entry of each row of
/// s_i |a_ij| s_j is near 1, for a triangle of a symmetric matrix (two steps of Ruiz 2001).
template <class T> void symmetric_scales(CscMatrix<T> const& a, std::vector<Real<T>>& scales);

/// Multiplies positive powers of two by powers of two such that s_i^2 |a_ii| is near 1, if a_ii is not zero.
/// Then no entry of a positive definite matrix is much larger.
template <class T> void diagonal_scales(CscMatrix<T> const& a, std::vector<Real<T>>& scales);

/// Plans the factorization of a positive definite matrix, whose values are not read. It is impossible if the
/// matrix or its factors are too large for 32-bit positions. With `only_if_faster`, it is slower if a
/// factorization with supernodes is predicted to be faster (see plan_simplicial_lu()).
template <class T>
PlanResult<LdlPlan> plan_simplicial_cholesky(CscMatrix<T> const& a, bool only_if_faster = false);

/// Plans the factorization of a symmetric or Hermitian matrix with finite values, with the pairs and scales
/// of `matched`, or with its own ones if this is null. It is impossible if a row with a weak diagonal finds
/// only partners with which its entries are weak, too, or if the matrix or its factors are too large for
/// 32-bit positions. `only_if_faster` as above.
template <class T> PlanResult<LdlPlan>
plan_simplicial_ldl(CscMatrix<T> const& a, MatchedRows const* matched = nullptr, bool only_if_faster = false);

/// Seconds of a factorization, in double precision.
double predicted_seconds(LdlPlan const& plan);

} // namespace espalier
