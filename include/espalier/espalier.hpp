// The C++ interface: analyze, factorize, solve and refine as separate steps.
//
//     espalier::CscMatrix<double> A = ...;             // lower triangle if A.symmetry != general
//     espalier::Solver<double> solver;                 // or Solver<double>(options)
//     solver.analyze(A);                               // pattern only
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

/// Signs of the eigenvalues of a real symmetric or Hermitian matrix, by Sylvester's law from D of the
/// factorization. A replaced pivot has no sign to trust and counts as zero.
struct Inertia {
    Index positive = 0; ///< How many are positive.
    Index negative = 0; ///< How many are negative.
    Index zero = 0;     ///< How many are not told apart from zero.
    /// All three.
    bool operator==(Inertia const&) const = default;
};

/// det A = phase * exp(log_modulus), which neither overflows nor underflows.
template <class T> struct Determinant {
    T phase = T(1);         ///< Of modulus 1 (the sign, when real), or 0 for a singular matrix.
    double log_modulus = 0; ///< Natural logarithm of |det A|; -infinity for a singular matrix.
};

/// What is numerically mapped to zero: rank = n - basis.cols.
template <class T> struct NullSpace {
    Index rank = 0;                      ///< The numerical rank of the matrix.
    DenseMatrix<T> basis;                ///< n x (n - rank), orthonormal columns: |A v| <= tolerance * |A|.
    std::vector<double> singular_values; ///< The smallest ones that were looked at, ascending, over |A|.
};

/// One linear system's analysis and factors, in scalar T (float, double or their complex forms). Errors are
/// thrown as espalier::Error; after one, the solver can be used again from analyze() or factorize() on.
/// Distinct solvers may be used from distinct threads.
///
/// With several processes (a Communicator) every process has a solver and calls the same members in the same
/// order, which return on all of them or throw the same error on all. Process 0 gives the matrix and the
/// right-hand sides, and gets the results; what the others give is not looked at (an empty matrix and empty
/// vectors will do), and they get empty results, but the same report. predict() and simulate() are of
/// process 0 alone.
template <class T> class ESPALIER_API Solver {
  public:
    /// Error{usage} for options out of range, or a machine (Options::topology) that there is not.
    explicit Solver(Options options = {});
    /// The system of several processes, with the options of process 0. Collective. Each has as many workers
    /// as the one with the fewest cores when Options::threads is 0.
    Solver(Options options, Communicator processes);
    /// For processes other than 0, in place of all that: takes part in every call of the Solver that process
    /// 0 makes with the same communicator, and returns when that is destroyed. Of `options` only the machine,
    /// `cancel` and what concerns this process alone count. Error{usage} on process 0.
    static void follow(Options options, Communicator processes);
    ~Solver();
    /// What is moved from can only be destroyed or assigned to.
    Solver(Solver&&) noexcept;
    /// The same.
    Solver& operator=(Solver&&) noexcept;

    /// Ordering, symbolic factorization, mapping. Looks at the values to choose (factorization, matching,
    /// scaling). Allocates nothing proportional to the factors.
    void analyze(CscMatrix<T> const& matrix);

    /// Numeric factorization. The pattern must be the one that was analyzed (analysis is done here when
    /// there was none). Error{singular}, {not_positive_definite}, {out_of_memory}.
    void factorize(CscMatrix<T> const& matrix);

    /// x = op(A)^-1 b for `nrhs` columns of n entries each, without refinement.
    [[nodiscard]] std::vector<T> solve(std::span<T const> b, Index nrhs = 1, MatrixOp op = MatrixOp::none);
    /// The same in place.
    void solve_in_place(std::span<T> x, Index nrhs = 1, MatrixOp op = MatrixOp::none);
    /// Sparse right-hand sides, an n x nrhs matrix stored in full: the forward solve visits only the part of
    /// the elimination tree that b reaches (Gilbert, Peierls 1988). Returns dense solutions.
    [[nodiscard]] DenseMatrix<T> solve(CscMatrix<T> const& b, MatrixOp op = MatrixOp::none);

    /// Improve x by Options::refine and measure its backward errors; `matrix` is the one that was factorized.
    RefineReport refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs = 1,
                        MatrixOp op = MatrixOp::none);

    /// Error{usage} unless the matrix is real symmetric or Hermitian and factorized by llh, ldlt or ldlh.
    /// With Options::schur, of the interior block.
    [[nodiscard]] Inertia inertia() const;
    /// From the diagonals of the factors. Error{usage} before factorize().
    [[nodiscard]] Determinant<T> determinant() const;
    /// Estimate of 1 / (|A| |A^-1|) in 1-norms (Hager 1984, Higham 1988); `matrix` is the one that was
    /// factorized.
    [[nodiscard]] double reciprocal_condition(CscMatrix<T> const& matrix);

    /// Right null vectors of the factorized matrix: singular values below tolerance * |A| (0: n epsilon),
    /// found by inverse subspace iteration. Set Options::allow_singular.
    [[nodiscard]] NullSpace<T> null_space(CscMatrix<T> const& matrix, double tolerance = 0);

    /// With Options::schur = (s_1 .. s_k): S = A_ss - A_si A_ii^-1 A_is, k x k, in the order given and of the
    /// matrix as the caller gave it; all entries, also when symmetric. solve() and refine() are
    /// Error{usage} then.
    [[nodiscard]] DenseMatrix<T> schur_complement() const;
    /// b_s - A_si A_ii^-1 b_i: the right-hand sides (k x nrhs) of the condensed system S x_s = ...
    [[nodiscard]] std::vector<T> condense(std::span<T const> b, Index nrhs = 1);
    /// The whole solution (n x nrhs) from b and the unknowns x_s (k x nrhs).
    [[nodiscard]] std::vector<T> expand(std::span<T const> b, std::span<T const> x_schur, Index nrhs = 1);

    /// What the schedule would be for `processes` of `threads` each (0: the cores of the topology), after
    /// analyze(). Nothing but the result comes of it. Error{usage} before analyze(), or for a machine of more
    /// than 2^20 workers.
    [[nodiscard]] Prediction predict(int processes, int threads = 0) const;
    /// The same with its schedule written to `path` as a Pajé trace (compressed when the name ends in .gz),
    /// in which the matrix is called `matrix_name`. The file appears whole or not at all. Error{io_error}.
    Prediction write_predicted_trace(std::string const& path, int processes, int threads = 0,
                                     std::string const& matrix_name = {}) const;
    /// The factorization on a machine that need not be here, task by task, under any policy; after
    /// analyze(), whose options on schedule and placement do not count. Memory that is not on a thread's
    /// NUMA node slows its tasks down. Error{usage} before analyze(), and for a machine or threads that make
    /// no sense; {bad_input} and {io_error} naming the machine file; {io_error} for the trace.
    [[nodiscard]] Prediction simulate(Simulation const& what) const;
    /// What was recorded since the last analyze() or write_trace(), with Options::record_trace, in the same
    /// form. Of several processes it is one trace of all, on the clock of process 0, which writes the file.
    /// Error{usage} when nothing was, {io_error}.
    void write_trace(std::string const& path, std::string const& matrix_name = {});

    /// What the steps so far found out.
    [[nodiscard]] Report const& report() const;
    /// The choices in force.
    [[nodiscard]] Options const& options() const;
    /// For what comes after: those of analysis at the next analyze(), and so on. Not during a call.
    void set_options(Options options);

  private:
    struct ESPALIER_HIDDEN State;
    std::unique_ptr<State> state_;
};

/// A solution and how it came about.
template <class T> struct Solution {
    std::vector<T> x; ///< n x nrhs, by columns.
    Report report;    ///< Of all steps.
};

/// Analyze, factorize, solve and refine in one call. Look at report.refine.status.
template <class T> ESPALIER_API Solution<T> solve(CscMatrix<T> const& matrix, std::span<T const> b,
                                                  Index nrhs = 1, Options options = {});

} // namespace espalier
