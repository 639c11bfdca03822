// Systems that lie distributed over processes, by columns of the matrix and rows of vectors: process 0 of a
// Solver works on all of it, so it is collected there before, and dealt out after.
//
//     CscMatrix<double> all = gather_columns(processes, my_columns);   // empty but on process 0
//     solver.factorize(all);
//     std::vector<double> x = solver.solve(gather_rows<double>(processes, my_b));
//     std::vector<double> my_x = scatter_rows<double>(processes, x, my_rows);
#pragma once

#include <span>
#include <vector>

#include "espalier/communicator.hpp"
#include "espalier/matrix.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// The matrix whose columns the processes have in turn: first those of process 0, then those of process 1,
/// and so on. `part` has all rows of its columns, with row numbers of the whole matrix; of a symmetric matrix
/// those of the lower triangle. On process 0 the whole matrix, elsewhere none. Collective. Error{usage} on
/// all processes when parts differ in rows or symmetry, or arrays of one do not fit together;
/// {out_of_memory}.
template <class T>
ESPALIER_API CscMatrix<T> gather_columns(Communicator const& processes, CscMatrix<T> const& part);

/// `nrhs` columns of which each process has consecutive rows, those of process 0 first; `part` has them
/// column by column. On process 0 the whole columns, elsewhere nothing. Collective. Error{usage} on all
/// processes when a part is not a multiple of nrhs; {out_of_memory}.
template <class T> ESPALIER_API std::vector<T> gather_rows(Communicator const& processes,
                                                           std::span<T const> part, Index nrhs = 1);

/// The way back: each process gets the next `rows` rows of `whole`, which process 0 has. Collective.
/// Error{usage} on all processes when these do not add up to what is there; {out_of_memory}.
template <class T> ESPALIER_API std::vector<T>
scatter_rows(Communicator const& processes, std::span<T const> whole, Index rows, Index nrhs = 1);

} // namespace espalier
