// Chooses the factorization for a matrix, or checks that the requested one can be used.
#pragma once

#include <string>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "espalier/options.hpp"

namespace espalier {

struct FactorizationChoice {
    Factorization kind = Factorization::lu;
    std::string reason; ///< One sentence, e.g. "auto chose llh: symmetric with a positive diagonal".
};

/// The factorization of a real symmetric or Hermitian matrix that is not positive definite.
template <class T> inline constexpr Factorization indefinite_kind =
    is_complex<T> ? Factorization::ldlh : Factorization::ldlt;

/// Returns options.factorization if it fits the symmetry of the matrix, and for Factorization::automatic
///     llh   real symmetric or Hermitian, positive diagonal, no entry that contradicts definiteness
///           (|a_ij|^2 < a_ii a_jj);
///     ldlt  other real symmetric and complex symmetric matrices;
///     ldlh  other Hermitian ones;
///     lu    everything else.
/// A complex matrix whose imaginary parts are all zero counts as real symmetric. With a Schur complement the
/// interior block may be positive definite even if the matrix is not. If the matrix may be singular, llh is
/// not chosen. Error{usage} if the option needs a symmetry that the matrix does not have.
template <class T> FactorizationChoice choose_factorization(CscMatrix<T> const& a, Options const& options);

/// Chooses llh or lu for an incomplete factorization; lu also serves indefinite symmetric matrices.
/// Error{usage} if the option asks for another kind.
template <class T>
FactorizationChoice choose_incomplete_factorization(CscMatrix<T> const& a, Options const& options);

} // namespace espalier
