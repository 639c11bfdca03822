// One interface to the three solvers on one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/matrix.hpp"

namespace espalier::small_systems {

class SmallSolver {
  public:
    virtual ~SmallSolver() = default;
    /// Each call repeats the whole computation, so that it can be timed. `values` belong to the pattern of
    /// the constructor.
    virtual void analyze() = 0;
    virtual void factorize() = 0;
    /// Factorizes other values with the earlier analysis and, if the solver supports it, the earlier pivots.
    virtual void refactorize(std::vector<double> const& values) = 0;
    /// x := A^-1 x for all columns of x, without refinement.
    virtual void solve(std::vector<double>& x) = 0;
    /// Releases analysis and factors.
    virtual void release() = 0;
    /// The method that the solver chose in the analysis.
    [[nodiscard]] virtual std::string path() const { return {}; }
};

/// `is_definite`: the matrix is positive definite.
std::unique_ptr<SmallSolver> espalier_solver(CscMatrix<double> const& a, bool is_definite);
/// Needs both triangles of symmetric matrices.
std::unique_ptr<SmallSolver> klu_solver(CscMatrix<double> const& a);
/// `library` is a path of libmkl_rt.so.
std::unique_ptr<SmallSolver> pardiso_solver(CscMatrix<double> const& a, bool is_definite,
                                            std::string const& library);

} // namespace espalier::small_systems
