// Small systems given by a formula or row by row, and what most tests of a solver do with them.
#pragma once

#include <random>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/espalier.hpp"

namespace espalier {

inline Options on_threads(int threads) {
    Options options;
    options.threads = threads;
    options.bind_threads = false;
    return options;
}

/// The entries value(i, j) that are not zero; only those of the lower triangle unless `symmetry` is general.
template <class T = double, class Value>
CscMatrix<T> matrix_of(Index n, Symmetry symmetry, Value const& value) {
    CscMatrix<T> a{n, n, symmetry, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index i = symmetry == Symmetry::general ? 0 : j; i < n; ++i) {
            T const entry = static_cast<T>(value(i, j));
            if (entry == T(0)) continue;
            a.row_ind.push_back(i);
            a.values.push_back(entry);
        }
        a.col_ptr.push_back(std::ssize(a.values));
    }
    return a;
}

/// A matrix from its rows, without zeros.
template <class T = double>
CscMatrix<T> matrix_from(Symmetry symmetry, std::vector<std::vector<T>> const& rows) {
    return matrix_of<T>(std::ssize(rows), symmetry, [&](Index i, Index j) { return rows[i][j]; });
}

/// Multiplies the values of a matrix by factor(i, j).
template <class T, class Factor> void scale_values(CscMatrix<T>& a, Factor const& factor) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p) a.values[p] *= factor(a.row_ind[p], j);
}

/// A number in [-1, 1], or a complex one with both parts there.
template <class T> T draw(std::mt19937& engine) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    auto const re = static_cast<Real<T>>(uniform(engine));
    if constexpr (is_complex<T>)
        return T(re, static_cast<Real<T>>(uniform(engine)));
    else
        return re;
}

template <class T> std::vector<T> random_vector(Index size, unsigned seed) {
    std::mt19937 engine(seed);
    std::vector<T> x(size);
    for (T& value : x) value = draw<T>(engine);
    return x;
}

/// `value` on process 0, and an empty one elsewhere.
template <class Value> Value on_process_0(Communicator const& comm, Value const& value) {
    return comm.rank() == 0 ? value : Value();
}

/// A solver with the factors of A.
template <class T>
Solver<T> factorized(CscMatrix<T> const& a, Options const& options = {}, Communicator const& comm = {}) {
    Solver<T> solver(options, comm);
    solver.factorize(a);
    return solver;
}

/// Solves A x = b with the factors of `solver` and refines the solution.
template <class T>
RefineReport solve_and_refine(Solver<T>& solver, CscMatrix<T> const& a, std::vector<T> const& b) {
    std::vector<T> x = solver.solve(b);
    return solver.refine(a, b, x);
}

} // namespace espalier
