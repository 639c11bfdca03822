"""Incomplete factorizations: as the method of a solver, and as preconditioners of scipy's methods."""

import numpy as np
import pytest
from scipy.sparse import linalg

import espalier
from matrices import DTYPES, block, error, general, laplacian, refuses


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positive", [False, True])
def test_a_solver_iterates_with_incomplete_factors(positive, dtype):
    A = laplacian(6, dtype) if positive else general(dtype=dtype)
    method = "cg" if positive and np.dtype(dtype).kind == "f" else "gmres"
    b = block(A.shape[0], 3, dtype)
    solver = espalier.Solver(method="ilu", levels=1, threads=2).factorize(A)
    for trans, op in (("N", A), ("T", A.T), ("H", A.conj().T)):
        assert error(op, solver.solve(b, trans), b) < (1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-11)
    report = solver.report
    assert report["settings"]["method"] == "ilu" and report["refine"]["method"] == method
    assert report["incomplete"]["levels"] == 1 and report["incomplete"]["iterations"] > 0


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_ilu_is_a_preconditioner_of_scipy(dtype):
    A = general(dtype=dtype)
    b = block(A.shape[0], 1, dtype)[:, 0]
    M = espalier.ilu(A, levels=1, threads=1)
    assert M.shape == A.shape and M.dtype == dtype

    def steps(preconditioner):
        count = []
        x, info = linalg.gmres(A, b, M=preconditioner, atol=0, callback=count.append, callback_type="pr_norm")
        assert info == 0
        assert np.linalg.norm(A @ x - b) < 1e-4 * np.linalg.norm(b)
        return len(count)

    assert steps(M) < steps(None)
    # The adjoint of the inverse: y^H M x = (M^H y)^H x.
    x, y = block(60, 2, dtype), block(60, 2, dtype, seed=5)
    np.testing.assert_allclose(y.conj().T @ M.matmat(x), M.rmatmat(y).conj().T @ x, rtol=1e-10)


def test_ilu_takes_new_values_and_options():
    A = laplacian(6)
    M = espalier.ilu(A, ordering="rcm", coarsen="CD(4)", threads=2)
    x = M @ np.ones(216)
    M.solver.factorize(2 * A)
    np.testing.assert_allclose(M @ np.ones(216), x / 2, rtol=1e-12)
    assert M.solver.report["incomplete"]["coarsen"] == "CD(4)"
    for runtime in ("espalier", "tbb", "openmp"):
        try:
            other = espalier.ilu(A, ordering="rcm", coarsen="CD(4)", threads=2, runtime=runtime)
        except espalier.UnsupportedError as error:
            assert f"does not have the runtime {runtime}" in str(error)
            continue
        np.testing.assert_array_equal(other @ np.ones(216), x)
        assert other.solver.report["incomplete"]["runtime"] == runtime
    refuses(ValueError, lambda: espalier.ilu(A, -1), "levels")
    refuses(ValueError, lambda: espalier.ilu(A, condition=True), "condition needs complete factors")
    refuses(ValueError, lambda: M.solver.slogdet(), "needs complete factors")


def test_a_solution_that_does_not_converge_gives_a_warning():
    solver = espalier.Solver(method="ilu", max_refine_iterations=2, threads=1).factorize(laplacian(10))
    with pytest.warns(espalier.AccuracyWarning):
        solver.solve(np.ones(1000))
    assert "ended at a backward error" in solver.report["notes"][-1]
