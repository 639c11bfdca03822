// Options and calls that most tests of a solver use.
#pragma once

#include <vector>

#include "common/matrices.hpp"
#include "espalier/espalier.hpp"
#include "matrix/dense_reference.hpp"

namespace espalier {

using test::random_vector;

inline Options on_threads(int threads) {
    Options options;
    options.threads = threads;
    options.bind_threads = false;
    return options;
}

/// Returns `value` on process 0, and an empty one elsewhere.
template <class Value> Value on_process_0(Communicator const& comm, Value const& value) {
    return comm.rank() == 0 ? value : Value();
}

/// Returns columns [first, end) of a matrix.
inline CscMatrix<double> columns_of(CscMatrix<double> const& matrix, Index first, Index end) {
    Offset const from = matrix.col_ptr[first], to = matrix.col_ptr[end];
    CscMatrix<double> part{matrix.rows, end - first, matrix.symmetry, {}, {}, {}};
    for (Index j = first; j <= end; ++j) part.col_ptr.push_back(matrix.col_ptr[j] - from);
    part.row_ind.assign(matrix.row_ind.begin() + from, matrix.row_ind.begin() + to);
    part.values.assign(matrix.values.begin() + from, matrix.values.begin() + to);
    return part;
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
