// Approximate minimum degree for small and irregular patterns with 32-bit positions, without a graph object.
#pragma once

#include <cstdint>
#include <span>

#include "espalier/types.hpp"

namespace espalier {

/// What an LU factorization in this order costs with all pivots on the diagonal: entries of L below the
/// diagonal (as many as of U above it), and operations.
struct MinimumDegree {
    Offset nnz_lower = 0;
    double flops = 0;
};

/// Orders the square pattern A (columns ptr, rows ind, in any order) by AMD of A + A^T: order[new] = old.
/// Errors: {out_of_memory}; {internal} for an invalid pattern.
MinimumDegree minimum_degree(std::span<std::int32_t const> ptr, std::span<std::int32_t const> ind,
                             std::span<std::int32_t> order);

} // namespace espalier
