"""Program of test_processes.py, run on each of several processes. Process 0 calls the solver, and the others follow."""

import numpy as np
from matrices import laplacian
from mpi4py import MPI
from scipy import sparse

import espalier


def refuses(error, call, *arguments):
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(f"{call} accepts {arguments}")


def lead(comm):
    A, B = laplacian(6), laplacian(6).astype(np.complex64)
    b = np.arange(216) % 5 + 1.0
    with espalier.Solver(comm=comm, factorization="llh", comm_threads=comm.Get_size() % 3) as solver:
        x = solver.factorize(A).solve(b)
        assert np.abs(A @ x - b).max() < 1e-10
        assert solver.report["processes"] == comm.Get_size()
        assert solver.inertia() == (216, 0, 0)
        refuses(espalier.NotPositiveDefiniteError, solver.factorize, -A)
        x = solver.factorize(2 * A).solve(b)
        assert np.abs(2 * A @ x - b).max() < 1e-10
        solver.set_options(factorization="auto")
        z = solver.factorize(B).solve(b)  # another scalar type
        assert z.dtype == np.complex64 and np.abs(B @ z - b).max() < 1e-3
    refuses(espalier.InputError, solver.factorize, A)  # closed
    kept = espalier.Solver(comm=comm).factorize(A)  # closed at the exit
    assert np.abs(A @ kept.solve(b) - b).max() < 1e-10
    globals()["kept"] = kept


def solve_rows(comm):
    rank, size = comm.Get_rank(), comm.Get_size()
    A = laplacian(6)
    n = A.shape[0]
    rows = slice(n * rank // size, n * (rank + 1) // size)
    b = np.stack([np.arange(n) % 5 + 1.0, np.ones(n)], axis=1)
    with espalier.DistributedSolver(comm, comm_threads=size % 3) as solver:
        solver.factorize(A if rank == 0 else None)
        x = solver.solve(b[rows])
        assert x.shape == b[rows].shape
        whole = np.concatenate(comm.allgather(x))
        assert np.abs(A @ whole - b).max() < 1e-10
        z = solver.solve(b[rows, 0] * (1j if rank == 0 else 1))  # complex on one process
        assert z.dtype == np.complex128 and z.shape == (len(z),)
        improved = solver.refine(b[rows, 1], np.zeros_like(b[rows, 1]))
        assert np.abs(A @ np.concatenate(comm.allgather(improved)) - b[:, 1]).max() < 1e-10
        assert solver.report["processes"] == size
        refuses(espalier.InputError, solver.solve, b[rows] if rank > 0 else b[:0, :1])  # rows are missing
        refuses((ValueError, espalier.InputError), solver.solve, np.full(len(x), np.nan if rank == size - 1 else 1))
        solver.factorize(3 * A if rank == 0 else None)
        assert np.abs(3 * A @ np.concatenate(comm.allgather(solver.solve(b[rows]))) - b).max() < 1e-10
        refuses((ValueError, espalier.InputError), solver.factorize, A * np.nan if rank == 0 else None)
        refuses(espalier.InputError, solver.solve, b[rows])  # there are no factors
        C = A + sparse.diags([np.ones(n - 100), np.ones(n - 100)], [-100, 100]) * 0.1  # another pattern
        solver.factorize(C if rank == 0 else None)
        assert np.abs(C @ np.concatenate(comm.allgather(solver.solve(b[rows]))) - b).max() < 1e-10


def main():
    comm = MPI.COMM_WORLD
    solve_rows(comm)
    if comm.Get_rank() == 0:
        lead(comm)
        print("fine")
        return
    for _ in range(2):
        espalier.follow(comm)
    refuses(espalier.InputError, lambda: espalier.Solver(comm=comm))  # only process 0 leads


main()
