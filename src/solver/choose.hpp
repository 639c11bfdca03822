// Which factorization suits a matrix, and whether the one asked for can be used on it.
#pragma once

#include <string>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

struct FactorizationChoice {
    Factorization kind = Factorization::lu;
    std::string reason; ///< One sentence, e.g. "auto chose llh: symmetric with a positive diagonal".
};

/// `asked` itself when it fits the symmetry of the matrix; for Factorization::automatic
///     llh   real symmetric or Hermitian, positive diagonal, no entry that contradicts definiteness
///           (|a_ij|^2 < a_ii a_jj);
///     ldlt  other real symmetric and complex symmetric matrices;
///     ldlh  other Hermitian ones;
///     lu    everything else.
/// A complex matrix whose imaginary parts are all zero counts as real symmetric. Error{usage} when `asked`
/// needs a symmetry the matrix lacks.
template <class T> FactorizationChoice choose_factorization(CscMatrix<T> const& a, Factorization asked);

} // namespace espalier
