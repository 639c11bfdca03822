// From a matrix to the graph that orderings and the symbolic factorization work on.
#pragma once

#include "core/graph.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The graph of the pattern of A + A^T without its diagonal: an edge {i, j} wherever A(i, j) or A(j, i) is
/// stored, explicit zeros included. Time and memory are linear in rows and stored entries.
/// Error{bad_input} when the matrix is not square.
template <class T> Graph adjacency_graph(CscMatrix<T> const& a);

} // namespace espalier
