// The C++ interface: analyze, factorize, solve and refine as separate steps.
//
//     espalier::CscMatrix<double> A = ...;             // lower triangle if A.symmetry != general
//     espalier::Solver<double> solver;                 // or Solver<double>(options)
//     solver.analyze(A);                               // ordering, structure, scaling; uses the values
//     solver.factorize(A);                             // again with new values: no new analysis
//     std::vector<double> x = solver.solve(b);         // any number of right-hand sides
//     auto report = solver.refine(A, b, x);            // backward error, improved x
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "espalier/communicator.hpp"
#include "espalier/matrix.hpp"
#include "espalier/options.hpp"
#include "espalier/report.hpp"
#include "espalier/simulation.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Numbers of positive, negative and zero eigenvalues of a real symmetric or Hermitian matrix, from the
/// pivots of the factorization (Sylvester's law). With pivoting delayed or auto, a replaced pivot counts as
/// zero; see inertia() for static pivots.
struct Inertia {
    Index positive = 0; ///< Positive eigenvalues.
    Index negative = 0; ///< Negative eigenvalues.
    Index zero = 0;     ///< Eigenvalues that are zero to rounding.
    /// Compares the three numbers.
    bool operator==(Inertia const&) const = default;
};

/// det A = phase * exp(log_modulus), which neither overflows nor underflows.
template <class T> struct Determinant {
    T phase = T(1);         ///< Modulus 1 (the sign if real), or 0 for a singular matrix.
    double log_modulus = 0; ///< Natural logarithm of |det A|; -infinity for a singular matrix.
};

/// The factors of an n x n matrix A as sparse matrices, without the entries that are zero. With p =
/// row_permutation and q = column_permutation, which have new positions as indices and old ones as values:
///
///     llh   A(p, p) = L L^H        llt   A(p, p) = L L^T
///     ldlh  A(p, p) = L D L^H      ldlt  A(p, p) = L D L^T      D has blocks of 1 x 1 and 2 x 2
///     lu    A(p, q) = L U
///
/// All are stored as general matrices. L has a unit diagonal except for llh and llt.
template <class T> struct Factors {
    CscMatrix<T> lower;                    ///< L.
    CscMatrix<T> diagonal;                 ///< D of ldlt and ldlh; otherwise empty.
    CscMatrix<T> upper;                    ///< U of lu; otherwise empty.
    std::vector<Index> row_permutation;    ///< p.
    std::vector<Index> column_permutation; ///< q; equal to p except for lu.
};

/// The numerical null space of an n x n matrix: rank = n - basis.cols.
template <class T> struct NullSpace {
    Index rank = 0;       ///< The numerical rank of the matrix.
    DenseMatrix<T> basis; ///< n x (n - rank), orthonormal columns: |A v| <= tolerance * |A|.
    /// The smallest computed singular values, ascending, divided by |A|.
    std::vector<double> singular_values;
};

/// The analysis and the factors of an n x n matrix with scalars T (float, double or their complex forms).
/// Vectors of several right-hand sides are n x nrhs, stored by columns. The caller owns all arguments, and
/// the solver keeps no references to them.
///
/// Errors are thrown as espalier::Error. After an error the solver can be used again from analyze() or
/// factorize() on. Every member throws Error{usage} for wrong sizes or a missing earlier step,
/// Error{cancelled} if Options::cancel returns true, and Error{out_of_memory}. Different threads may use
/// different solvers at the same time.
///
/// With several processes (a Communicator), every process has a solver and calls the same members in the same
/// order. A call returns on all processes or throws the same error on all. Process 0 passes the matrix and
/// the right-hand sides, and receives the results. Arguments of other processes are ignored and may be empty;
/// their results are empty, except that every process has the report. Only process 0 calls predict() and
/// simulate().
template <class T> class ESPALIER_API Solver {
  public:
    /// Error{usage} for options out of range or a wrong Options::topology.
    explicit Solver(Options options = {});
    /// A solver on several processes, with the options of process 0. Collective. If Options::threads is 0,
    /// each process has as many workers as the process with the fewest cores.
    Solver(Options options, Communicator processes);
    /// For processes other than 0, in place of a solver: takes part in every call of the Solver that process
    /// 0 makes with the same communicator, and returns when that solver is destroyed. `options` only sets the
    /// machine, `cancel` and what concerns this process alone. Error{usage} on process 0.
    static void follow(Options options, Communicator processes);
    ~Solver();
    /// A solver that was moved from can only be destroyed or assigned to.
    Solver(Solver&&) noexcept;
    /// A solver that was moved from can only be destroyed or assigned to.
    Solver& operator=(Solver&&) noexcept;

    /// Ordering, symbolic factorization and mapping of a square n x n matrix (docs/algorithms.md names the
    /// sources). The values determine factorization, matching and scaling. Allocates nothing proportional to
    /// the factors. Discards earlier factors. Error{bad_input} for a matrix that is not square or has values
    /// that are not finite; {singular} for a structurally singular one, unless Options::allow_singular;
    /// {io_error}, {bad_input} for the ordering file.
    void analyze(CscMatrix<T> const& matrix);

    /// Numeric factorization. The matrix has the analyzed pattern, else Error{usage}; without an earlier
    /// analysis it is analyzed first. Factorization::automatic chooses again for each matrix, but an
    /// incomplete lu remains if the analyzed matrix was not positive definite. The matrix is analyzed again,
    /// with a note in the report, if pivots are poor because the rows were matched for other values. It is
    /// factorized again with delayed columns if the factors are useless. Error{singular};
    /// {not_positive_definite} for llh; {out_of_memory} if it would need more than Options::max_memory. After
    /// any error there are no factors, not even those of an earlier matrix.
    void factorize(CscMatrix<T> const& matrix);

    /// Solves op(A) x = b without refinement; b and the result are n x nrhs.
    [[nodiscard]] std::vector<T> solve(std::span<T const> b, Index nrhs = 1, MatrixOp op = MatrixOp::none);
    /// Replaces the right-hand sides x, n x nrhs, by the solutions, without refinement.
    void solve_in_place(std::span<T> x, Index nrhs = 1, MatrixOp op = MatrixOp::none);
    /// Does the work of solve() for distributed vectors. Each process passes consecutive rows of the
    /// right-hand sides, column by column (those of process 0 come first, as in distributed.hpp), and
    /// receives these rows of the solutions. No process has whole vectors. Collective; `nrhs` and `op` are
    /// the same on all processes. Error{usage} on all of them if the rows do not add up to those of the
    /// matrix.
    [[nodiscard]] std::vector<T> solve_rows(std::span<T const> b, Index nrhs = 1,
                                            MatrixOp op = MatrixOp::none);
    /// Solves for sparse right-hand sides: b is an n x nrhs general matrix. The forward solve visits only the
    /// part of the elimination tree that b reaches (Gilbert, Peierls 1988). Returns the dense n x nrhs
    /// solutions.
    [[nodiscard]] DenseMatrix<T> solve(CscMatrix<T> const& b, MatrixOp op = MatrixOp::none);

    /// Improves x, a solution of op(A) x = b, by Options::refine until its backward error is about 10 epsilon
    /// (with an incomplete factorization: within Options::tolerance) or the method stagnates, and measures
    /// the errors (Oettli, Prager 1964; Rigal, Gaches 1967). `matrix` is the one that was factorized; b and x
    /// are n x nrhs. The result is also in report(); if its `status` is not ok, x is the best solution that
    /// was found. Error{usage} with Options::schur.
    RefineReport refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs = 1,
                        MatrixOp op = MatrixOp::none);
    /// Does the work of refine() for rows of b and x as in solve_rows(). Only process 0 passes the matrix.
    RefineReport refine_rows(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs = 1,
                             MatrixOp op = MatrixOp::none);

    /// Inertia of the matrix; with Options::schur, of its interior block A_ii. Error{usage} unless it is real
    /// symmetric or Hermitian and factorized by llh, ldlt or ldlh, and for SolveMethod::ilu; {inaccurate} if
    /// pivots were replaced (unless columns were delayed and the matrix is singular), or if entries grew so
    /// much that the factors do not determine it.
    [[nodiscard]] Inertia inertia() const;
    /// Determinant from the diagonals of the factors; 0 if the matrix is singular to working precision.
    /// Error{usage} before factorize(), with Options::schur and for SolveMethod::ilu; {inaccurate} otherwise
    /// if pivots were replaced, or if entries grew so much that the factors do not determine it.
    [[nodiscard]] Determinant<T> determinant() const;
    /// Estimate of 1 / (|A| |A^-1|) in 1-norms (Hager 1984, Higham 1988), from about ten solves. `matrix` is
    /// the one that was factorized. If pivots were replaced and refinement with such factors does not
    /// converge, it is factorized again with delayed columns (as Options::condition does); where columns
    /// cannot be delayed, a note says that the estimate may be too large.
    [[nodiscard]] double reciprocal_condition(CscMatrix<T> const& matrix);

    /// Right null vectors of the factorized matrix: those with singular values below tolerance * |A|, found
    /// by inverse subspace iteration. The tolerance 0 means n * epsilon. Needs Options::allow_singular for
    /// matrices that are structurally singular.
    [[nodiscard]] NullSpace<T> null_space(CscMatrix<T> const& matrix, double tolerance = 0);

    /// The selected inverse (Takahashi, Fagan, Chin 1973): the entries (j, i) of A^-1 for all stored entries
    /// (i, j) of `matrix`, which has the factorized pattern. That is the pattern of A^T, and of A if it is
    /// symmetric; the result has the symmetry of `matrix`. Its transpose is the derivative of log |det A| by
    /// the entries of A. The entries are not refined. This takes the time of three to five factorizations,
    /// and the memory of the factors once more. Factors without supernodes or with delayed columns are
    /// inverted entry by entry, in one thread. Error{unsupported} unless there is one process, with factors
    /// in T and without replaced pivots; {singular}.
    [[nodiscard]] CscMatrix<T> selected_inverse(CscMatrix<T> const& matrix);
    /// The n diagonal entries of A^-1, with the requirements of selected_inverse(). If the rows were permuted
    /// for lu, entries outside of the structure of the factors are computed by solves.
    [[nodiscard]] std::vector<T> inverse_diagonal();

    /// A copy of the factors as sparse matrices, with scales and permutations undone. Replaced pivots have
    /// their new values. Error{unsupported} unless there is one process, with factors in T.
    [[nodiscard]] Factors<T> factors() const;
    /// The halves of a solve with the factors of llh, llt, ldlt or ldlh, on vectors in the order of their
    /// rows: (L D)^-1 b, where D is the identity for llh and llt. b and the result are n x nrhs. Errors as
    /// factors(); {usage} for lu.
    [[nodiscard]] std::vector<T> solve_lower(std::span<T const> b, Index nrhs = 1);
    /// L^-H b for llh and ldlh, L^-T b for llt and ldlt. Otherwise like solve_lower().
    [[nodiscard]] std::vector<T> solve_lower_adjoint(std::span<T const> b, Index nrhs = 1);

    /// Replaces A by A + W W^H for sign = 1, or by A - W W^H for sign = -1 (W W^T if A is symmetric and not
    /// Hermitian), and its factors by those of the new matrix. On entry `matrix` is A, the factorized one,
    /// and on return the new one, with an additional entry for each product of W outside of the pattern. W is
    /// n x k and has general storage. Returns whether the factors were changed in place, along the paths of
    /// the elimination tree from the columns of W (Davis, Hager 2009). That needs llh, ldlt, ldlh or real llt
    /// with supernodes, one process, no delayed columns and no replaced pivots, and the new factors must have
    /// the structure of the old ones: those rows of a column of W that are eliminated after its first one
    /// must be rows of the factor in the same column. Otherwise the new matrix is factorized, after an
    /// analysis if its pattern is new, and a note in the report has the reason. After
    /// Error{not_positive_definite} for llh, {singular}, or {bad_input} for values of W or of the new matrix
    /// that are not finite, the matrix and the factors are unchanged.
    /// factorize() accepts the pattern that was analyzed and that of `matrix`. Error{out_of_memory} if W has
    /// columns with too many entries.
    bool update(CscMatrix<T>& matrix, CscMatrix<T> const& w, int sign = 1);
    /// Calls update() with the nonzeros of a dense W (n x k).
    bool update(CscMatrix<T>& matrix, DenseMatrix<T> const& w, int sign = 1);
    /// Calls update() with sign = -1.
    bool downdate(CscMatrix<T>& matrix, CscMatrix<T> const& w) { return update(matrix, w, -1); }

    /// The Schur complement S = A_ss - A_si A_ii^-1 A_is of the unknowns Options::schur = (s_1 .. s_k) in
    /// that order, for the unscaled matrix: k x k, with all entries even if symmetric. With Options::schur,
    /// solve() and refine() throw Error{usage}; without, this function, condense() and expand() do.
    [[nodiscard]] DenseMatrix<T> schur_complement() const;
    /// The right-hand sides b_s - A_si A_ii^-1 b_i (k x nrhs) of the system S x_s = ..., from b (n x nrhs).
    /// With `op`, op(A) and op(S) take the places of A and S.
    [[nodiscard]] std::vector<T> condense(std::span<T const> b, Index nrhs = 1, MatrixOp op = MatrixOp::none);
    /// The solution x (n x nrhs) of op(A) x = b from b (n x nrhs) and its part x_s (k x nrhs).
    [[nodiscard]] std::vector<T> expand(std::span<T const> b, std::span<T const> x_schur, Index nrhs = 1,
                                        MatrixOp op = MatrixOp::none);

    /// Prediction of the factorization on `processes` processes with `threads` threads each (0: the cores of
    /// the topology), after analyze(). Does not change the solver. Error{usage} before analyze(), for a
    /// factorization without supernodes (Options::supernodes), or for more than 2^20 workers.
    [[nodiscard]] Prediction predict(int processes, int threads = 0) const;
    /// Does the same as predict() and writes the schedule to `path` as a Pajé trace (compressed if the name
    /// ends in .gz), which contains `matrix_name`. The file appears whole or not at all. Error{io_error}.
    Prediction write_predicted_trace(std::string const& path, int processes, int threads = 0,
                                     std::string const& matrix_name = {}) const;
    /// Simulates the factorization task by task on any machine and under any policy, after analyze(). `what`
    /// replaces the options of schedule and placement. Memory on another NUMA node slows tasks down.
    /// Error{usage} before analyze(), for a factorization without supernodes, and for a wrong machine or
    /// number of threads; {bad_input} and {io_error} for the machine file; {io_error} for the trace.
    [[nodiscard]] Prediction simulate(Simulation const& what) const;
    /// Writes what was recorded since the last analyze() or write_trace() with Options::record_trace, as a
    /// Pajé trace like that of write_predicted_trace(). With several processes it is one trace of all, on the
    /// clock of process 0, which writes the file. Error{usage} if nothing was recorded, {io_error}.
    void write_trace(std::string const& path, std::string const& matrix_name = {});

    /// Results of all steps so far. Valid until the next call.
    [[nodiscard]] Report const& report() const;
    /// The options in force.
    [[nodiscard]] Options const& options() const;
    /// Replaces the options. Each option takes effect at the next step that uses it. Error{usage} as in the
    /// constructor; the options are then unchanged. Must not be called during another call.
    void set_options(Options options);

  private:
    struct ESPALIER_HIDDEN State;
    std::unique_ptr<State> state_;
};

/// A solution and its report.
template <class T> struct Solution {
    std::vector<T> x; ///< n x nrhs, by columns.
    Report report;    ///< Results of all steps.
};

/// Analyzes, factorizes, solves and refines in one call; b is n x nrhs. report.refine.status says whether the
/// solution is accurate. Errors as in Solver.
template <class T> ESPALIER_API Solution<T> solve(CscMatrix<T> const& matrix, std::span<T const> b,
                                                  Index nrhs = 1, Options options = {});

} // namespace espalier
