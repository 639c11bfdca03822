// The analysis of an LU factorization without supernodes. Input: the pattern of a square matrix; output: its
// block triangular form with the diagonal blocks ordered by minimum degree on A + A^T, bounds of the entries
// and operations of the factors, and an estimate of the time.
#pragma once

#include "simplicial/block_triangular.hpp"
#include "simplicial/plan_result.hpp"

namespace espalier {

struct LuPlan {
    BlockTriangularForm form; ///< Rows and columns in the order of elimination.
    Index largest_block = 0;
    /// Entries of L + U and between the blocks, if all pivots are on the diagonal. Entries of lower triangles
    /// below the diagonal are `nnz_lower` of them.
    Offset nnz_factor = 0, nnz_lower = 0;
    double flops = 0; ///< Multiplications and additions for these entries.

    [[nodiscard]] Index order() const { return std::ssize(form.row); }
    /// The memory in bytes of factors with these entries, for scalars of `scalar_bytes` and a matrix of `nnz`
    /// entries.
    [[nodiscard]] std::uint64_t bytes(std::size_t scalar_bytes, Offset nnz) const;
};

/// The factorization is impossible if the matrix is too large for 32-bit positions. With `only_if_faster`, it
/// is slower if a factorization with supernodes is predicted to be faster, or if the matching takes too long.
/// The prediction compares the times of a refactorization and a solve, plus a tenth of the additional time of
/// an analysis with supernodes. Supernodes compute faster, and cost more for each column. `ordered` is false
/// for blocks in the order of the matrix.
PlanResult<LuPlan> plan_simplicial_lu(PatternView const& pattern, bool ordered = true,
                                      bool only_if_faster = false);

/// Seconds of a refactorization without supernodes, in double precision with AVX2 or AVX-512.
double predicted_seconds(LuPlan const& plan);

/// The number of entries of L + U, at least a quarter more than planned because of pivots outside of the
/// diagonal, from which on supernodes are predicted to be faster.
Offset most_entries(LuPlan const& plan);

} // namespace espalier
