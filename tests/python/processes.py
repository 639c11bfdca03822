"""Program of test_processes.py, run on each of several processes. Process 0 calls the solver, and the others follow."""

import numpy as np
from matrices import laplacian
from mpi4py import MPI

import espalier


def lead(comm):
    A, B = laplacian(6), laplacian(6).astype(np.complex64)
    b = np.arange(216) % 5 + 1.0
    with espalier.Solver(comm=comm, factorization="llh", comm_threads=comm.Get_size() % 3) as solver:
        x = solver.factorize(A).solve(b)
        assert np.abs(A @ x - b).max() < 1e-10
        assert solver.report["processes"] == comm.Get_size()
        assert solver.inertia() == (216, 0, 0)
        try:
            solver.factorize(-A)
            raise AssertionError("-A is not positive definite")
        except espalier.NotPositiveDefiniteError:
            pass
        x = solver.factorize(2 * A).solve(b)
        assert np.abs(2 * A @ x - b).max() < 1e-10
        solver.set_options(factorization="auto")
        z = solver.factorize(B).solve(b)  # another scalar type
        assert z.dtype == np.complex64 and np.abs(B @ z - b).max() < 1e-3
    try:
        solver.factorize(A)
        raise AssertionError("the solver is closed")
    except espalier.InputError:
        pass
    kept = espalier.Solver(comm=comm).factorize(A)  # closed at the exit
    assert np.abs(A @ kept.solve(b) - b).max() < 1e-10
    globals()["kept"] = kept


def main():
    comm = MPI.COMM_WORLD
    if comm.Get_rank() == 0:
        lead(comm)
        print("fine")
        return
    for _ in range(2):
        espalier.follow(comm)
    try:
        espalier.Solver(comm=comm)
        raise AssertionError("only process 0 leads")
    except espalier.InputError:
        pass


main()
