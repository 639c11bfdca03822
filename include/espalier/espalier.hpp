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

#include "espalier/matrix.hpp"
#include "espalier/options.hpp"
#include "espalier/report.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// One linear system's analysis and factors, in scalar T (float, double or their complex forms). Errors are
/// thrown as espalier::Error. Distinct solvers may be used from distinct threads.
template <class T> class Solver {
  public:
    explicit Solver(Options options = {});
    ~Solver();
    Solver(Solver&&) noexcept;
    Solver& operator=(Solver&&) noexcept;

    /// Ordering, symbolic factorization, mapping. Looks at the values only where Factorization::automatic
    /// needs the diagonal to choose. Allocates nothing proportional to the factors.
    void analyze(CscMatrix<T> const& matrix);

    /// Numeric factorization. The pattern must be the one that was analyzed (analysis is done here when
    /// there was none). Error{singular}, {not_positive_definite}, {out_of_memory}.
    void factorize(CscMatrix<T> const& matrix);

    /// x = A^-1 b for `nrhs` columns of n entries each, without refinement.
    [[nodiscard]] std::vector<T> solve(std::span<T const> b, Index nrhs = 1);

    /// Improve x by Options::refine and measure its backward errors; `matrix` is the one that was factorized.
    RefineReport refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs = 1);

    [[nodiscard]] Report const& report() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace espalier
