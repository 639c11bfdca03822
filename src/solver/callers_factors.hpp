// The factors of the caller's matrix A and entries of its inverse, from the factors of the working system B =
// P R A C. They need one process and all factors in T.
//
// With B(p, q) = L U, A(P^-1 p, q) = (R^-1 L R) (R^-1 U C^-1), where R and C are in the order of the factors.
// L D L^op is treated likewise with R = C. The inverse is A^-1 = C B^-1 P R.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scaling/scaled_system.hpp"
#include "solver/numeric_factor.hpp"

namespace espalier {

/// The factors as sparse matrices; with `keeps_zeros` all entries of their structure.
template <class T>
Factors<T> callers_factors(ScaledSystem<T> const& system, Factor<T> const& factor, bool keeps_zeros);

/// Applies the inverse of one symmetric factor in the order of callers_factors() to n x columns: `forward`
/// that of L D, or of L for llh and llt, otherwise that of L^op.
template <class T> std::vector<T> solve_half(ScaledSystem<T> const& system, NumericFactor<T>& factor,
                                             std::span<T const> b, Index columns, bool forward);

/// The entries (i, j) of an inverse; nullopt for those that were not computed.
template <class T> using InverseEntries = std::function<std::optional<T>(Index, Index)>;

/// The entries of A^-1, from those of B^-1 on the structure of the factors. `system` must outlive the result.
template <class T> InverseEntries<T> callers_inverse(ScaledSystem<T> const& system,
                                                     std::shared_ptr<SelectedInverse<T> const> inverse,
                                                     std::vector<Index> const& perm);

/// The largest error on the diagonal of A A^-1, which needs only entries of A^-1 in the pattern of A^T. NaN
/// if an entry is.
template <class T> double error_of_inverse(CscMatrix<T> const& a, CscMatrix<T> const& inverse);

/// The number of columns that solve_for_diagonal() solves together at most.
inline constexpr Index columns_of_diagonal = 16;
/// Computes the entries of the diagonal of A^-1 in these rows by solves with unit vectors. `solve` replaces a
/// block of n x columns by A^-1 times this block.
template <class T> void solve_for_diagonal(std::function<void(std::span<T>, Index columns)> const& solve,
                                           std::span<Index const> rows, std::vector<T>& diagonal);

} // namespace espalier
