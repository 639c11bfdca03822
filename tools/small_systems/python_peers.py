#!/usr/bin/env python3
"""Compares the Python functions of Espalier with those of scipy on small systems, for docs/performance.md:

    PYTHONPATH=build/release/python tools/small_systems/python_peers.py [--sizes 10,100] [--json FILE]

Prints a table. The figures are microseconds of Espalier and, after a slash, their ratio to those of scipy: medians of calls
that take turns.
"""

import argparse
import json
import time

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

import espalier


def tridiagonal(n):
    return sparse.diags([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1], format="csc")


def laplacian(n):
    side = round(n**0.5)
    line = sparse.diags([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], [-1, 0, 1])
    one = sparse.identity(side)
    return (sparse.kron(one, line) + sparse.kron(line, one) + 1e-3 * sparse.identity(side**2)).tocsc()


def random(n):
    """Three entries in each column besides the diagonal, up to n = 1000: the factors of larger ones are dense."""
    entries = sparse.random(n, n, density=min(0.3, 3 / n), random_state=np.random.RandomState(1))
    return (entries + sparse.diags(np.random.RandomState(2).uniform(1, 2, n))).tocsc()


def circuit(n):
    """Conductances between near nodes, two nets with many nodes, and controlled sources."""
    generator = np.random.RandomState(3)
    rows, columns, values = [], [], []

    def add(i, j, value):
        rows.append(i)
        columns.append(j)
        values.append(value)

    def connect(i, j, conductance):
        for a, b, sign in (i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1):
            add(a, b, sign * conductance)

    for node in range(n):
        add(node, node, 1e-3)
        near = (node + 1 + generator.randint(4)) % n
        if near != node:
            connect(node, near, generator.uniform(0.1, 1))
        if node % 3 == 0 and node > 1:
            connect(node, node % 2, generator.uniform(1, 10))
        if node % 4 == 0 and node > 20:
            add(node, node - 1 - generator.randint(20), generator.uniform(0.1, 2))
    return sparse.coo_matrix((values, (rows, columns)), shape=(n, n)).tocsc()


KINDS = {"tridiagonal": tridiagonal, "laplacian": laplacian, "random": random, "circuit": circuit}
CALLS = ("spsolve", "splu", "factorized", "solve")


def medians(both, seconds):
    """The median time of each of two functions, which are called in turn."""
    times = [[], []]
    for function in both:
        function()
    end = time.perf_counter() + seconds
    while len(times[0]) < 5 or time.perf_counter() < end:
        for function, of_function in zip(both, times):
            start = time.perf_counter()
            function()
            of_function.append(time.perf_counter() - start)
    return [float(np.median(of_function)) for of_function in times]


def measure(A, seconds):
    b = np.ones(A.shape[0])
    ours, theirs = espalier.splu(A), linalg.splu(A)
    pairs = {
        "spsolve": (lambda: espalier.spsolve(A, b), lambda: linalg.spsolve(A, b)),
        "splu": (lambda: espalier.splu(A), lambda: linalg.splu(A)),
        "factorized": (lambda: espalier.factorized(A), lambda: linalg.factorized(A)),
        "solve": (lambda: ours.solve(b), lambda: theirs.solve(b)),
    }
    return {call: medians(pairs[call], seconds) for call in CALLS}


def microseconds(seconds):
    return f"{1e6 * seconds:,.0f}" if seconds > 1e-4 else f"{1e6 * seconds:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,100,1000,10000", help="orders, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each call and system")
    parser.add_argument("--json", help="file for the times of Espalier and scipy in seconds")
    arguments = parser.parse_args()
    print(f"| system | n | entries | {' | '.join(CALLS)} |")
    print("|---" * (3 + len(CALLS)) + "|")
    runs = []
    for kind, make in KINDS.items():
        for n in map(int, arguments.sizes.split(",")):
            if kind == "random" and n > 1000:
                continue
            A = make(n)
            times = measure(A, arguments.seconds)
            runs.append({"matrix": kind, "n": A.shape[0], "nnz": int(A.nnz), "seconds": times})
            cells = [f"{microseconds(own)} / {own / other:.2f}" for own, other in times.values()]
            print(f"| {kind} | {A.shape[0]:,} | {A.nnz:,} | {' | '.join(cells)} |", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(run) + "\n" for run in runs)


if __name__ == "__main__":
    main()
