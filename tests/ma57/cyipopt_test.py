"""Unmodified cyipopt (from PyPI, compiled with Debian's Ipopt) takes the same steps with Espalier as with MUMPS in the
problems of casadi_test.py, whose functions casadi evaluates. Prints iterations and times.

    python3 -m venv build/casadi && build/casadi/bin/pip install casadi cyipopt
    LD_LIBRARY_PATH=build/release/lib/espalier/hsl build/casadi/bin/python tests/ma57/cyipopt_test.py
"""

import sys
import time

import casadi as ca
import cyipopt
import numpy as np

from casadi_test import PROBLEMS


class Problem:
    """The callbacks of cyipopt."""

    def __init__(self, functions):
        x, f, g = functions["x"], functions["f"], functions["g"]
        scale, multipliers = ca.SX.sym("scale"), ca.SX.sym("multipliers", g.shape[0])
        hessian = ca.tril(ca.hessian(scale * f + ca.dot(multipliers, g), x)[0])
        jacobian = ca.jacobian(g, x)
        self._structures = {"jacobian": jacobian.sparsity().get_triplet(), "hessian": hessian.sparsity().get_triplet()}
        self._objective = ca.Function("f", [x], [f])
        self._gradient = ca.Function("gradient", [x], [ca.gradient(f, x)])
        self._constraints = ca.Function("g", [x], [g])
        self._jacobian = ca.Function("jacobian", [x], [jacobian])
        self._hessian = ca.Function("hessian", [x, multipliers, scale], [hessian])
        self.iterations = 0

    def objective(self, x):
        return float(self._objective(x))

    def gradient(self, x):
        return self._gradient(x).full().ravel()

    def constraints(self, x):
        return self._constraints(x).full().ravel()

    def jacobian(self, x):
        return np.array(self._jacobian(x).nonzeros())

    def jacobianstructure(self):
        return tuple(map(np.array, self._structures["jacobian"]))

    def hessian(self, x, multipliers, scale):
        return np.array(self._hessian(x, multipliers, scale).nonzeros())

    def hessianstructure(self):
        return tuple(map(np.array, self._structures["hessian"]))

    def intermediate(self, _algorithm, iteration, *_):
        self.iterations = iteration


def minimize(problem, linear_solver):
    """Status, iterations, objective and seconds."""
    functions, arguments = problem()
    size, constraints = functions["x"].numel(), functions["g"].numel()

    def vector(name, count, default):
        return np.array(ca.DM(arguments.get(name, default)).full()).ravel() * np.ones(count)

    callbacks = Problem(functions)
    solver = cyipopt.Problem(n=size, m=constraints, problem_obj=callbacks,
                             lb=vector("lbx", size, -ca.inf), ub=vector("ubx", size, ca.inf),
                             cl=vector("lbg", constraints, -ca.inf), cu=vector("ubg", constraints, ca.inf))
    solver.add_option("linear_solver", linear_solver)
    solver.add_option("print_level", 0)
    solver.add_option("sb", "yes")
    begin = time.perf_counter()
    _, info = solver.solve(vector("x0", size, 0))
    return info["status"], callbacks.iterations, info["obj_val"], time.perf_counter() - begin


def main():
    print(f"{'problem':12} {'objective':>16} {'iterations':>21} {'seconds':>17}\n{'':29} {'MUMPS':>10} {'Espalier':>10} "
          f"{'MUMPS':>8} {'Espalier':>8}")
    wrong = []
    for problem in PROBLEMS:
        mumps, found = minimize(problem, "mumps"), minimize(problem, "ma57")
        print(f"{problem.__name__:12} {found[2]:16.9g} {mumps[1]:10} {found[1]:10} {mumps[3]:8.4f} {found[3]:8.4f}")
        same = abs(mumps[2] - found[2]) <= 1e-9 * max(1, abs(mumps[2]))
        if found[0] != 0 or found[:2] != mumps[:2] or not same:
            wrong.append(f"{problem.__name__}: {found} instead of {mumps}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
