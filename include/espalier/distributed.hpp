// Systems that are distributed over processes, by columns of the matrix and rows of vectors. Process 0 of a
// Solver analyzes the whole matrix, so its columns are gathered there first. Vectors may stay distributed
// (Solver::solve_rows and refine_rows) or be gathered and scattered:
//
//     CscMatrix<double> all = gather_columns(processes, my_columns);   // empty except on process 0
//     solver.factorize(all);
//     std::vector<double> x = solver.solve(gather_rows<double>(processes, my_b));
//     std::vector<double> my_x = scatter_rows<double>(processes, x, my_rows);
//
// Files can be read in the same way: each process parses its part, and gets columns or rows.
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

/// Gathers a matrix whose columns are distributed in the order of the processes. `part` has all rows of its
/// columns, with row numbers of the whole matrix; of a symmetric matrix those of the lower triangle. Returns
/// the whole matrix on process 0, and an empty one elsewhere. Collective. Error{usage} on all processes if
/// parts differ in rows or symmetry, or the arrays of one are inconsistent; {out_of_memory}.
template <class T>
ESPALIER_API CscMatrix<T> gather_columns(Communicator const& processes, CscMatrix<T> const& part);

/// Gathers `nrhs` columns of which each process has consecutive rows, in the order of the processes. `part`
/// has them column by column. Returns the whole columns on process 0, and nothing elsewhere. Collective.
/// Error{usage} on all processes if the size of a part is not a multiple of nrhs; {out_of_memory}.
template <class T> ESPALIER_API std::vector<T> gather_rows(Communicator const& processes,
                                                           std::span<T const> part, Index nrhs = 1);

/// Scatters columns: each process gets the next `rows` rows of `whole`, which process 0 has. Collective.
/// Error{usage} on all processes if the rows do not add up to those of `whole`; {out_of_memory}.
template <class T> ESPALIER_API std::vector<T>
scatter_rows(Communicator const& processes, std::span<T const> whole, Index rows, Index nrhs = 1);

/// The columns of this process of the matrix in a file: Matrix Market, Rutherford-Boeing or Harwell-Boeing,
/// also compressed by gzip. Each of P processes gets cols / P of `cols` columns, and the first cols % P
/// processes one more. Collective. All processes must be able to open a plain Matrix Market file; each parses
/// its P-th part of the bytes with `threads` threads (0: the cores that it may use). Process 0 reads other
/// files alone and distributes them. The parts together have the same bits as the result of one process.
/// Error on all processes: {io_error}; {bad_input} as "path:line: what"; {usage} if the numbers are complex
/// and T is not; {unsupported}; {out_of_memory}.
template <class T> ESPALIER_API CscMatrix<T> read_columns(Communicator const& processes,
                                                          std::string const& path, int threads = 0);

/// The rows of this process of a dense block, such as right-hand sides, in a Matrix Market file. Rows are
/// distributed as columns are by read_columns(). Collective. Errors as read_columns().
template <class T> ESPALIER_API DenseMatrix<T> read_rows(Communicator const& processes,
                                                         std::string const& path, int threads = 0);

} // namespace espalier
