// The adjacency graph of a matrix, the input of orderings and of the symbolic factorization.
#pragma once

#include "core/graph.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The graph of the pattern of A + A^T without its diagonal: {i, j} is an edge if A(i, j) or A(j, i) is
/// stored, explicit zeros included. Time and memory are linear in rows and stored entries. Throws
/// Error{bad_input} if the matrix is not square.
template <class T> Graph adjacency_graph(CscMatrix<T> const& a);

} // namespace espalier
