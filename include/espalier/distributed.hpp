// Systems that lie distributed over processes, by columns of the matrix and rows of vectors: process 0 of a
// Solver works on all of it, so it is collected there before, and dealt out after.
//
//     CscMatrix<double> all = gather_columns(processes, my_columns);   // empty but on process 0
//     solver.factorize(all);
//     std::vector<double> x = solver.solve(gather_rows<double>(processes, my_b));
//     std::vector<double> my_x = scatter_rows<double>(processes, x, my_rows);
//
// Files can be read that way: each process parses its part of them, and gets columns or rows.
//
//     CscMatrix<double> my_columns = read_columns<double>(processes, "a.mtx");
//     DenseMatrix<double> my_b = read_rows<double>(processes, "b.mtx");
#pragma once

#include <span>
#include <string>
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

/// The columns of this process of the matrix in a file: Matrix Market, Rutherford-Boeing or Harwell-Boeing,
/// also compressed by gzip. Of `cols` columns over P processes each gets cols / P, and the first cols % P one
/// more. Collective. A plain Matrix Market file must be seen by all processes, of which each reads and parses
/// the lines that begin in its P-th of the bytes, by `threads` (0: the cores that it may use); other files
/// process 0 reads alone, and deals out. The parts together are bit for bit what one process would read.
/// Error on all processes: {io_error}; {bad_input} as "path:line: what"; {usage} when the numbers are complex
/// and T is not; {unsupported}; {out_of_memory}.
template <class T> ESPALIER_API CscMatrix<T> read_columns(Communicator const& processes,
                                                          std::string const& path, int threads = 0);

/// The rows of this process of a dense block, such as right-hand sides, in a Matrix Market file. Rows are
/// dealt out as columns are by read_columns(). Collective. Errors as there.
template <class T> ESPALIER_API DenseMatrix<T> read_rows(Communicator const& processes,
                                                         std::string const& path, int threads = 0);

} // namespace espalier
