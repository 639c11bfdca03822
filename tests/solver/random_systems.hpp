// Random systems for each factorization, in narrow column blocks.
#pragma once

#include <random>
#include <vector>

#include "core/scalar.hpp"
#include "solver/systems.hpp"

namespace espalier {

inline Options narrow_blocks(Factorization kind = Factorization::automatic) {
    Options options = on_threads(2);
    options.factorization = kind;
    options.max_block_width = 8;
    options.min_block_width = 4;
    return options;
}

/// A random sparse matrix that suits `kind`. It is well conditioned, and indefinite if the kind allows it.
template <class T> CscMatrix<T> random_matrix(Factorization kind, Index n, unsigned seed) {
    std::mt19937 engine(seed);
    bool const hermitian = kind == Factorization::llh || kind == Factorization::ldlh;
    bool const symmetric = kind != Factorization::lu;
    Symmetry const symmetry = !symmetric                   ? Symmetry::general
                              : hermitian && is_complex<T> ? Symmetry::hermitian
                                                           : Symmetry::symmetric;
    return matrix_of<T>(n, symmetry, [&](Index i, Index j) {
        if (i != j && engine() % 7 != 0) return T(0);
        T value = test::random_scalar<T>(engine);
        if (i == j) {
            bool const definite = kind == Factorization::llh;
            value = T(static_cast<Real<T>>(definite || engine() % 2 == 0 ? 7 : -7));
            if (!hermitian && is_complex<T>) value += test::random_scalar<T>(engine);
        }
        return value;
    });
}

template <class T> std::vector<Factorization> kinds() {
    using enum Factorization;
    return is_complex<T> ? std::vector{llh, llt, ldlt, ldlh, lu} : std::vector{llh, ldlt, lu};
}

} // namespace espalier
