"""Unmodified casadi (from PyPI) takes the same steps with Espalier as with MUMPS. Prints iterations and times.

    python3 -m venv build/casadi && build/casadi/bin/pip install casadi
    build/casadi/bin/python tests/ma57/casadi_test.py build/release/lib/libespalier_ma57.so
"""

import sys
import time

import casadi as ca


def unknowns(count):
    x = ca.SX.sym("x", count)
    return x, ca.vertsplit(x)


def rosenbrock():
    x, (a, b) = unknowns(2)
    return dict(x=x, f=100 * (b - a**2) ** 2 + (1 - a) ** 2, g=a**2 + b**2), dict(x0=[-1.2, 1], lbg=0, ubg=1)


def hs006():
    x, (a, b) = unknowns(2)
    return dict(x=x, f=(1 - a) ** 2, g=10 * (b - a**2)), dict(x0=[-1.2, 1], lbg=0, ubg=0)


def hs007():
    x, (a, b) = unknowns(2)
    return dict(x=x, f=ca.log(1 + a**2) - b, g=(1 + a**2) ** 2 + b**2), dict(x0=[2, 2], lbg=4, ubg=4)


def hs013():
    x, (a, b) = unknowns(2)
    return dict(x=x, f=(a - 2) ** 2 + b**2, g=(1 - a) ** 3 - b), dict(x0=[-2, -2], lbx=0, lbg=0)


def hs015():
    x, (a, b) = unknowns(2)
    return (dict(x=x, f=100 * (b - a**2) ** 2 + (1 - a) ** 2, g=ca.vertcat(a * b - 1, a + b**2)),
            dict(x0=[-2, 1], lbg=0, ubx=[0.5, ca.inf]))


def hs024():
    x, (a, b) = unknowns(2)
    r = ca.sqrt(3)
    return (dict(x=x, f=((a - 3) ** 2 - 9) * b**3 / (27 * r), g=ca.vertcat(a / r - b, a + r * b, 6 - a - r * b)),
            dict(x0=[1, 0.5], lbx=0, lbg=0))


def hs026():
    x, (a, b, c) = unknowns(3)
    return dict(x=x, f=(a - b) ** 2 + (b - c) ** 4, g=(1 + b**2) * a + c**4), dict(x0=[-2.6, 2, 2], lbg=3, ubg=3)


def hs029():
    x, (a, b, c) = unknowns(3)
    return dict(x=x, f=-a * b * c, g=a**2 + 2 * b**2 + 4 * c**2), dict(x0=1, ubg=48)


def hs032():
    x, (a, b, c) = unknowns(3)
    return (dict(x=x, f=(a + 3 * b + c) ** 2 + 4 * (a - b) ** 2, g=ca.vertcat(6 * b + 4 * c - a**3, a + b + c)),
            dict(x0=[0.1, 0.7, 0.2], lbx=0, lbg=[3, 1], ubg=[ca.inf, 1]))


def hs043():
    x, (a, b, c, d) = unknowns(4)
    g = ca.vertcat(ca.sumsqr(x) + a - b + c - d, a**2 + 2 * b**2 + c**2 + 2 * d**2 - a - d,
                   2 * a**2 + b**2 + c**2 + 2 * a - b - d)
    return dict(x=x, f=ca.sumsqr(x) + c**2 - 5 * a - 5 * b - 21 * c + 7 * d, g=g), dict(x0=0, ubg=[8, 10, 5])


def hs071():
    x, (a, b, c, d) = unknowns(4)
    return (dict(x=x, f=a * d * (a + b + c) + c, g=ca.vertcat(a * b * c * d, ca.sumsqr(x))),
            dict(x0=[1, 5, 5, 1], lbx=1, ubx=5, lbg=[25, 40], ubg=[ca.inf, 40]))


def hs079():
    x, (a, b, c, d, e) = unknowns(5)
    f = (a - 1) ** 2 + (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 4
    right = [2 + 3 * 2**0.5, 2 * 2**0.5 - 2, 2]
    return dict(x=x, f=f, g=ca.vertcat(a + b**2 + c**3, b - c**2 + d, a * e)), dict(x0=2, lbg=right, ubg=right)


def hs100():
    x, (a, b, c, d, e, p, q) = unknowns(7)
    f = ((a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + 10 * e**6 + 7 * p**2 + q**4 - 4 * p * q
         - 10 * p - 8 * q)
    g = ca.vertcat(2 * a**2 + 3 * b**4 + c + 4 * d**2 + 5 * e, 7 * a + 3 * b + 10 * c**2 + d - e,
                   23 * a + b**2 + 6 * p**2 - 8 * q, 4 * a**2 + b**2 - 3 * a * b + 2 * c**2 + 5 * p - 11 * q)
    return dict(x=x, f=f, g=g), dict(x0=[1, 2, 0, 4, 0, 1, 1], ubg=[127, 282, 196, 0])


def oscillator(steps=2000):
    """Van der Pol oscillator with a bounded control, by the midpoint rule."""
    states, controls = ca.SX.sym("x", 2, steps + 1), ca.SX.sym("u", steps)
    h = 10 / steps

    def slope(x, u):
        return ca.vertcat((1 - x[1] ** 2) * x[0] - x[1] + u, x[0])

    f, g = 0, [states[:, 0] - ca.vertcat(0, 1)]
    for k in range(steps):
        x, u = states[:, k], controls[k]
        g.append(states[:, k + 1] - x - h * slope(x + h / 2 * slope(x, u), u))
        f += h * (ca.sumsqr(x) + u**2)
    free = ca.inf * ca.DM.ones(2 * (steps + 1))
    bound = ca.DM.ones(steps)
    return (dict(x=ca.veccat(states, controls), f=f, g=ca.vertcat(*g)),
            dict(x0=0, lbg=0, ubg=0, lbx=ca.vertcat(-free, -bound), ubx=ca.vertcat(free, bound)))


def membrane(width=40):
    """Control by the right-hand side of -laplace y + y^3 = u, with bounds of the control."""
    y, u = ca.SX.sym("y", width, width), ca.SX.sym("u", width, width)
    h = 1 / (width + 1)
    padded = ca.SX(width + 2, width + 2)
    padded[1:-1, 1:-1] = y
    laplace = 4 * y - padded[:-2, 1:-1] - padded[2:, 1:-1] - padded[1:-1, :-2] - padded[1:-1, 2:]
    points = [h * (k + 1) for k in range(width)]
    wanted = ca.DM([[a * (1 - a) * b for b in points] for a in points])
    f = h**2 * (ca.sumsqr(y - wanted) / 2 + 1e-4 * ca.sumsqr(u))
    unbounded, bound = ca.inf * ca.DM.ones(width**2), 4 * ca.DM.ones(width**2)
    return (dict(x=ca.veccat(y, u), f=f, g=ca.vec(laplace + h**2 * (y**3 - u))),
            dict(x0=0, lbg=0, ubg=0, lbx=ca.vertcat(-unbounded, 0 * bound), ubx=ca.vertcat(unbounded, bound)))


PROBLEMS = [rosenbrock, hs006, hs007, hs013, hs015, hs024, hs026, hs029, hs032, hs043, hs071, hs079, hs100, oscillator,
            membrane]


def minimize(problem, library):
    """Status, iterations, objective and the least of three times with MUMPS, or with the library."""
    functions, arguments = problem()
    options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}
    options |= {"ipopt.linear_solver": "ma57", "ipopt.hsllib": library} if library else {"ipopt.linear_solver": "mumps"}
    solver = ca.nlpsol("solver", "ipopt", functions, options)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        result = solver(**arguments)
        times.append(time.perf_counter() - begin)
    stats = solver.stats()
    return stats["return_status"], stats["iter_count"], float(result["f"]), min(times)


def main():
    print(f"{'problem':12} {'objective':>16} {'iterations':>21} {'seconds':>17}\n{'':29} {'MUMPS':>10} {'Espalier':>10} "
          f"{'MUMPS':>8} {'Espalier':>8}")
    wrong = []
    for problem in PROBLEMS:
        mumps, found = minimize(problem, None), minimize(problem, sys.argv[1])
        print(f"{problem.__name__:12} {found[2]:16.9g} {mumps[1]:10} {found[1]:10} {mumps[3]:8.4f} {found[3]:8.4f}")
        same = abs(mumps[2] - found[2]) <= 1e-9 * max(1, abs(mumps[2]))
        if found[0] != "Solve_Succeeded" or found[:2] != mumps[:2] or not same:
            wrong.append(f"{problem.__name__}: {found} instead of {mumps}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
