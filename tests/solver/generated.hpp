// Matrices of the generators in any scalar, for tests.
#pragma once

#include <variant>

#include "core/scalar.hpp"
#include "generators/generators.hpp"
#include "matrix/convert.hpp"

namespace espalier {

/// Error{internal} for a complex matrix in a real scalar.
template <class T> CscMatrix<T> generated(char const* spec) {
    NamedMatrix const named = generate_matrix(spec);
    return std::visit(
        [](auto const& matrix) -> CscMatrix<T> {
            using From = typename std::decay_t<decltype(matrix)>;
            if constexpr (std::is_same_v<From, CscMatrix<std::complex<double>>> && !is_complex<T>)
                throw Error(Status::internal, "complex");
            else
                return convert<T>(matrix);
        },
        named.matrix);
}

} // namespace espalier
