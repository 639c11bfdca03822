// The choice of the scales R and C and the row permutation P of the system B = P R A C that is factorized.
// Input: a matrix and options; output: a ScalingChoice, which ScaledSystem applies.
//
//   llh, llt     B = A; or S A S if scaling is on
//   ldlt, ldlh   B = S A S with rows and columns of largest modulus about 1 (Ruiz 2001). If a diagonal entry
//                remains weak, S comes from a maximum-product matching, whose pairs of rows become candidates
//                for 2 x 2 pivots (Duff and Pralet 2005).
//   lu           B = R A C, scaled likewise. If a diagonal entry remains weak, P, R and C come from a
//                maximum-product matching (Duff and Koster 2001).
//
// Scales are powers of two, so scaling causes no rounding errors. Unknowns of a Schur complement are neither
// scaled nor permuted: P, R and C come from the interior block alone.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

struct ScalingOptions {
    Factorization kind = Factorization::lu; ///< The factorization of B; not automatic.
    Toggle matching = Toggle::automatic;    ///< Whether to use a maximum-product matching.
    int matching_steps = 1;                 ///< Moduli are rounded to powers of 2^(1/steps) for the matching.
    Toggle scaling = Toggle::automatic;     ///< Whether to scale.
    bool allow_singular = false;            ///< Accept a matching that leaves rows unmatched.
    std::span<Index const> schur = {};      ///< Unknowns of the Schur complement.
    Interrupt* interrupt = nullptr;         ///< Cancels the choice; may be null.
};

/// The scales and the row permutation of a scaled system, and what is known of its matching.
struct ScalingChoice {
    std::vector<double> row_scale;              ///< Diagonal of R, n entries; empty if R = C = I.
    std::vector<double> column_scale;           ///< Diagonal of C, n entries; empty if R = C = I.
    std::vector<Index> row_place;               ///< Row i of A is row row_place[i] of B; empty if P = I.
    std::vector<std::pair<Index, Index>> pairs; ///< Rows to be eliminated together (ldlt, ldlh).
    /// Rank of the interior block; -1 if no matching was computed.
    Index structural_rank = -1;
    bool matched = false; ///< Whether P, R and C come from a matching.
    /// Whether the system is to be scaled, although R = C = I may suffice for the values it was chosen for.
    bool adapts_scales = false;
};

/// Products of three numbers of at most this modulus do not overflow.
template <class T>
inline double const moderate_size = std::cbrt(static_cast<double>(std::numeric_limits<Real<T>>::max()));

/// Chooses P, R and C from the values of the square matrix `a`. A matching is computed if it is on, or if it
/// is automatic and a diagonal entry is weak. Throws Error{singular} with the structural rank if rows remain
/// unmatched and `allow_singular` is false; Error{cancelled}.
template <class T> ScalingChoice choose_scaling(CscMatrix<T> const& a, ScalingOptions const& options);

} // namespace espalier
