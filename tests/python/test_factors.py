"""Factor objects: cholesky, ldl and lu."""

import copy
import pickle
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import espalier
from matrices import DTYPES, block, error, general, hermitian, laplacian, matrix_of, refuses, tolerance

MAKERS = [(espalier.cholesky, laplacian), (espalier.ldl, hermitian), (espalier.lu, general)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("factorize, make", MAKERS)
def test_factors_solve(factorize, make, dtype):
    A = matrix_of(make, dtype)
    factor = factorize(A, threads=2)
    assert factor.shape == A.shape and factor.dtype == dtype and factor.nnz >= A.shape[0]
    b = block(A.shape[0], 3, dtype)
    for x in (factor(b), factor.solve_A(b), factor.solve(b)):
        assert error(A, x, b) < tolerance(dtype)
    for trans, op in (("T", A.T), ("H", A.conj().T)):
        assert error(op, factor.solve(b, trans), b) < tolerance(dtype)


def test_factorizations_are_those_that_were_asked_for():
    indefinite = hermitian(dtype=np.float64)
    refuses(espalier.NotPositiveDefiniteError, lambda: espalier.cholesky(indefinite))
    for factor, kind in (
        (espalier.ldl(laplacian(3)), "ldlt"),
        (espalier.ldl(hermitian()), "ldlh"),
        (espalier.ldl(laplacian(3, np.complex128) * 1j, symmetric="symmetric"), "ldlt"),
        (espalier.lu(laplacian(3)), "lu"),
    ):
        assert factor.solver.report["settings"]["factorization"] == kind
        assert kind in repr(factor)
    refuses(ValueError, lambda: espalier.ldl(indefinite, symmetric="general"), "symmetric")
    refuses(TypeError, lambda: espalier.lu(indefinite, factorization="llh"), "factorization")
    refuses(TypeError, lambda: espalier.cholesky(indefinite.toarray()), "scipy.sparse")
    refuses(TypeError, lambda: espalier.ldl(indefinite.toarray()), "scipy.sparse")


def test_one_triangle_is_enough():
    A = laplacian(3)
    b = block(27, 1, float)
    for triangle in (sparse.tril(A), sparse.triu(A)):
        for factorize in (espalier.cholesky, espalier.ldl):
            assert error(A, factorize(triangle)(b), b) < 1e-14


@pytest.mark.parametrize("factorize, make", MAKERS)
def test_determinant_and_inertia(factorize, make):
    A = matrix_of(make, np.float64)
    factor = factorize(A)
    sign, logarithm = np.linalg.slogdet(A.toarray())
    assert factor.slogdet() == (pytest.approx(sign), pytest.approx(logarithm))
    assert factor.det() == pytest.approx(sign * np.exp(logarithm))
    if sign > 0:
        assert factor.logdet() == pytest.approx(logarithm)
    else:
        refuses(ValueError, factor.logdet, "slogdet")
    if factorize is not espalier.lu:
        values = np.linalg.eigvalsh(A.toarray())
        assert factor.inertia() == ((values > 0).sum(), (values < 0).sum(), 0)


def test_a_negative_determinant_has_no_logarithm():
    factor = espalier.ldl(sparse.diags([2.0, -3.0], format="csc"))
    refuses(ValueError, factor.logdet, "slogdet")
    assert factor.det() == pytest.approx(-6)


def test_new_values_replace_the_factors():
    A = laplacian(4)
    factor = espalier.cholesky(A)
    operator = factor.inverse()
    B = A + sparse.identity(64, format="csc")
    b = block(64, 1, float)[:, 0]
    assert factor.refactorize(B) is factor
    for x in (factor(b), operator @ b):
        np.testing.assert_allclose(B @ x, b, atol=1e-13)
    refuses(ValueError, lambda: factor.refactorize(A.astype(np.complex128)), "complex128")
    refuses(TypeError, lambda: factor.refactorize(A.toarray()), "scipy.sparse")


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_inverse_is_an_operator(dtype):
    A = general(dtype=dtype)
    inverse = espalier.lu(A).inverse()
    assert inverse.shape == A.shape and inverse.dtype == dtype
    dense = np.linalg.inv(A.toarray())
    X = block(60, 2, dtype)
    np.testing.assert_allclose(inverse @ X, dense @ X, atol=1e-12)
    np.testing.assert_allclose(inverse.H @ X, dense.conj().T @ X, atol=1e-12)
    x, info = linalg.gmres(A, X[:, 0], M=inverse, atol=0)
    assert info == 0


def test_eigenvalues_near_a_shift():
    A, shift = laplacian(6), 3.3
    factor = espalier.ldl(A - shift * sparse.identity(216, format="csc"))
    found = linalg.eigsh(A, k=4, sigma=shift, OPinv=factor.inverse(), return_eigenvectors=False)
    values = np.linalg.eigvalsh(A.toarray())
    nearest = np.sort(values[np.argsort(abs(values - shift))[:4]])
    np.testing.assert_allclose(np.sort(found), nearest)
    assert factor.inertia().negative == (values < shift).sum()


@pytest.mark.parametrize("supernodes", ["on", "off"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("factorize, make", MAKERS)
def test_selected_inverse(factorize, make, dtype, supernodes):
    A = matrix_of(make, dtype)
    factor = factorize(A, supernodes=supernodes)
    dense = np.linalg.inv(A.toarray().astype(np.complex128))
    bound = 1e3 * tolerance(dtype) * abs(dense).max()
    selected = factor.selected_inverse()
    pattern = (A.T != 0).toarray()
    assert selected.format == "csc" and selected.dtype == dtype
    np.testing.assert_allclose(selected.toarray(), np.where(pattern, dense, 0), atol=bound)
    np.testing.assert_allclose(factor.inverse_diagonal(), dense.diagonal(), atol=bound)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("call", ["selected_inverse", "inverse_diagonal"])
def test_inaccurate_entries_of_the_inverse_give_a_warning(call, dtype):
    n = 12
    A = sparse.diags([1, 1e-3, 1], [-1, 0, 1], shape=(n, n), format="csc").astype(dtype)
    order = {"ordering": "natural", "matching": "off", "scaling": "off"}
    factor = espalier.lu(A, max_block_width=1, supernodes="on", pivoting="static", **order)
    for owner in (factor, factor.solver):
        with pytest.warns(espalier.AccuracyWarning, match="inaccurate.*diagonal") as caught:
            getattr(owner, call)()
        assert len(caught) == 1 and caught[0].filename == __file__
    assert any("inaccurate" in note for note in factor.solver.report["notes"])


def test_selected_inverse_is_the_derivative_of_the_determinant():
    A = general(dtype=np.float64).tocsc()
    factor = espalier.lu(A, supernodes="on")
    derivative, before = factor.selected_inverse().T.tocsc(), factor.slogdet().logabsdet
    change = A.copy()
    change.data = 1e-6 * np.cos(np.arange(A.nnz))
    factor.refactorize(A + change)
    assert factor.slogdet().logabsdet - before == pytest.approx(derivative.multiply(change).sum(), rel=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("factorize, make", MAKERS)
def test_updates_are_of_low_rank(factorize, make, dtype):
    A = matrix_of(make, dtype)
    n = A.shape[0]
    factor = factorize(A)
    W = sparse.random(n, 3, density=0.04, random_state=3, format="csc").astype(dtype)
    W.data *= 1j if A.dtype.kind == "c" else 0.5
    b = block(n, 1, dtype)
    changed = A + W @ W.conj().T
    assert factor.update(W.toarray()) in (True, False)
    assert error(changed, factor(b), b) < tolerance(dtype)
    assert factor.slogdet()[1] == pytest.approx(np.linalg.slogdet(changed.toarray())[1], rel=1e-4)
    factor.update_inplace(W, subtract=True)
    assert error(A, factor(b), b) < tolerance(dtype)
    factor.refactorize(A)
    assert error(A, factor(b), b) < tolerance(dtype)


def test_updates_keep_a_factor_that_they_cannot_change():
    A = laplacian(4)
    factor = espalier.cholesky(A)
    before = factor.L()
    edge = np.zeros(64)
    edge[[0, 1]] = 1, -1  # an edge of the graph: in the pattern of A
    assert factor.update(edge)
    assert abs(factor.L() - before).max() > 0.1
    assert factor.downdate(sparse.csc_matrix(edge[:, np.newaxis]))
    assert abs(factor.L() - before).max() < 1e-14
    assert factor.solver.report["factor"]["updates"] == 2
    refuses(espalier.NotPositiveDefiniteError, lambda: factor.downdate(9 * edge), "not positive definite")
    b = block(64, 1, float)
    assert error(A, factor(b), b) < 1e-14
    refuses(ValueError, lambda: factor.update(np.ones(63)), "W has shape")
    refuses(ValueError, lambda: factor.update(1j * edge), "complex")
    refuses(espalier.InputError, lambda: factor.update(edge, 2), "1 or -1")


@pytest.mark.parametrize("supernodes", ["on", "off"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_general_factors_are_those_of_superlu(dtype, supernodes):
    A = general(dtype=dtype)
    factor = espalier.splu(A, supernodes=supernodes)
    n = A.shape[0]
    Pr = sparse.csc_matrix((np.ones(n), (factor.perm_r, np.arange(n))))
    Pc = sparse.csc_matrix((np.ones(n), (np.arange(n), factor.perm_c)))
    np.testing.assert_allclose((Pr.T @ (factor.L @ factor.U) @ Pc.T).toarray(), A.toarray(), atol=1e-12)
    assert sparse.triu(factor.L, 1).nnz == 0 and sparse.tril(factor.U, -1).nnz == 0
    before = factor.U
    factor.refactorize(2 * A)
    np.testing.assert_allclose(factor.U.toarray(), 2 * before.toarray(), atol=1e-12)


def test_arguments_of_splu_are_those_of_scipy():
    A = general(dtype=np.float64)
    b = block(60, 1, float)[:, 0]
    expected = linalg.splu(A).solve(b)
    for factor in (
        espalier.splu(A, "MMD_AT_PLUS_A", 0.1, 1, 10, dict(SymmetricMode=True, Equil=False)),
        espalier.splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0, threads=1),
        espalier.splu(A, options=dict(ColPerm="NATURAL")),
        espalier.splu(A, permc_spec="COLAMD"),
    ):
        np.testing.assert_allclose(factor.solve(b), expected, rtol=1e-10)
    np.testing.assert_allclose(espalier.spsolve(A, b, "NATURAL", use_umfpack=False), expected, rtol=1e-10)
    assert espalier.splu(A, "NATURAL").solver.options["ordering"] == "natural"
    assert espalier.splu(A, "NATURAL", ordering="metis").solver.options["ordering"] == "metis"
    refuses(ValueError, lambda: espalier.splu(A, "RCM"), "permc_spec = 'RCM'; it is one of NATURAL")
    refuses(TypeError, lambda: espalier.splu(A, options=dict(Equill=True)), "unknown option 'Equill' of SuperLU")
    refuses(TypeError, lambda: espalier.splu(A, permc_specs="NATURAL"), "permc_specs")


def test_programs_of_scipy_use_other_functions_unchanged(monkeypatch):
    A = laplacian(4)
    b = block(64, 1, float)[:, 0]
    direct = linalg.spsolve(A, b)
    inner = linalg.eigsh(A, k=3, sigma=2.2, return_eigenvectors=False)
    for name in ("splu", "spsolve", "factorized"):
        monkeypatch.setattr(linalg, name, getattr(espalier, name))
    monkeypatch.setattr(sys.modules[linalg.eigsh.__module__], "splu", espalier.splu)
    np.testing.assert_allclose(linalg.spsolve(A, b), direct)
    np.testing.assert_allclose(linalg.factorized(A)(b), direct)
    np.testing.assert_allclose(linalg.eigsh(A, k=3, sigma=2.2, return_eigenvectors=False), inner)
    operator = linalg.LinearOperator(A.shape, linalg.splu(A).solve)
    x, info = linalg.cg(A, b, M=operator, atol=0)
    assert info == 0
    np.testing.assert_allclose(x, direct)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda factor: pickle.loads(pickle.dumps(factor))])
def test_copies_of_factors_are_independent(make):
    A = laplacian(3)
    b = block(27, 1, float)[:, 0]
    for factorize in (espalier.cholesky, espalier.ldl, espalier.lu):
        factor = factorize(A, ordering="amd")
        other = make(factor)
        assert type(other) is type(factor) and other.solver.options == factor.solver.options
        before = factor(b)
        np.testing.assert_allclose(other(b), before)
        other.refactorize(2 * A)
        np.testing.assert_allclose(other(b), before / 2)
        np.testing.assert_allclose(factor(b), before)
    changed = espalier.cholesky(A)
    changed.update(np.eye(27)[0])
    np.testing.assert_allclose(make(changed)(b), changed(b))
