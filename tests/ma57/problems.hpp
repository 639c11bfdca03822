// Nonlinear problems: minimize f(x) with lower <= g(x) <= upper and bounds of x. Numbers are those of Hock
// and Schittkowski, "Test examples for nonlinear programming codes" (1981).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hyper_dual.hpp"

struct Problem {
    std::string name;
    std::vector<double> start;
    std::vector<double> x_lower, x_upper; ///< Empty: none.
    std::vector<double> lower, upper;     ///< Of the constraints.
    /// Returns f, and then all g.
    std::function<std::vector<HyperDual>(std::vector<HyperDual> const&)> functions;
    double optimum;        ///< Known value of f at the solution; NaN: not known.
    bool singular = false; ///< The constraints are dependent.
};

/// All problems of the tests.
std::vector<Problem> problems();
