"""Factor objects of symmetric matrices, with the names and the meaning of scikit-sparse."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import espalier
from matrices import DTYPES, block, error, general, hermitian, laplacian, matrix_of, refuses, tolerance

MAKERS = [(espalier.cholesky, laplacian), (espalier.ldl, hermitian)]
IDENTITY = sparse.identity(64, format="csc")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("factorize, make", MAKERS)
def test_factors_are_those_of_scikit_sparse(factorize, make, dtype):
    A = matrix_of(make, dtype)
    factor = factorize(A, pivoting="static")
    (L, D), P = factor.L_D(), factor.P()
    permuted, Lh = A.toarray()[P][:, P], L.conj().T
    bound = 100 * tolerance(dtype) * abs(A).max()
    np.testing.assert_allclose((L @ D @ Lh).toarray(), permuted, atol=bound)
    np.testing.assert_allclose(L.diagonal(), 1)
    assert sparse.triu(L, 1).nnz == 0
    for b in (block(A.shape[0], 3, dtype), block(A.shape[0], 1, dtype)[:, 0]):
        solves = [(factor.solve_L, L), (factor.solve_Lt, Lh), (factor.solve_D, D), (factor.solve_LDLt, L @ D @ Lh)]
        for solve, matrix in [*solves, (factor.solve_LD, L @ D), (factor.solve_DLt, D @ Lh)]:
            np.testing.assert_allclose(solve(matrix @ b), b, atol=1e3 * tolerance(dtype) * abs(b).max())
        np.testing.assert_array_equal(factor.apply_P(b), b[P])
        np.testing.assert_array_equal(factor.apply_Pt(factor.apply_P(b)), b)
        x = factor.apply_Pt(factor.solve_DLt(factor.solve_L(factor.apply_P(b))))
        np.testing.assert_allclose(x, factor(b), atol=1e3 * tolerance(dtype) * abs(b).max())


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_cholesky_has_both_forms(dtype):
    A = laplacian(4, dtype)
    if np.dtype(dtype).kind == "c":
        phases = sparse.diags(np.exp(1j * np.arange(64)))
        A = (phases @ A @ phases.conj()).tocsc()
    factor = espalier.cholesky(A)
    L, P, b = factor.L(), factor.P(), block(64, 2, dtype)
    np.testing.assert_allclose((L @ L.conj().T).toarray(), A.toarray()[P][:, P], atol=1e-13)
    np.testing.assert_allclose(factor.solve_L(L @ b, use_LDLt_decomposition=False), b)
    np.testing.assert_allclose(factor.solve_Lt(L.conj().T @ b, False), b)
    unit, D = factor.L_D()
    assert factor.D().dtype == np.float64
    np.testing.assert_allclose(factor.D(), D.diagonal())
    np.testing.assert_allclose(np.log(factor.D()).sum(), factor.logdet())
    np.testing.assert_allclose((factor.LD() - unit).toarray(), np.diag(factor.D() - 1), atol=1e-14)
    np.testing.assert_allclose(factor.inv().toarray(), np.linalg.inv(A.toarray()), atol=1e-13)


def test_blocks_of_two_have_no_diagonal():
    factor = espalier.ldl(sparse.csc_matrix([[0.0, 1], [1, 0]]))
    for call in (factor.D, factor.LD):
        refuses(ValueError, call, "2 x 2; use L_D")
    assert factor.L_D()[1].nnz >= 2
    refuses(ValueError, lambda: factor.solve_L(np.ones(2), False), "use cholesky")
    np.testing.assert_array_equal(espalier.ldl(sparse.diags([2.0, -3.0], format="csc")).D(), [2, -3])


def test_a_multiple_of_the_identity_is_added():
    A, b = laplacian(4), block(64, 1, float)[:, 0]
    factor = espalier.cholesky(sparse.tril(A), 0.5)
    assert error(A + 0.5 * IDENTITY, factor(b), b) < 1e-14
    other = factor.cholesky(A, beta=2)
    assert error(A + 2 * IDENTITY, other(b), b) < 1e-14
    assert error(A + 0.5 * IDENTITY, factor(b), b) < 1e-14
    analysis = factor.solver.report["analysis"]
    factor.cholesky_inplace(A, 3)
    assert factor.solver.report["analysis"] == analysis  # the times too
    assert error(A + 3 * IDENTITY, factor(b), b) < 1e-14
    assert error(IDENTITY, espalier.cholesky(sparse.csc_matrix((64, 64)), 1)(b), b) < 1e-14
    for beta in (np.nan, 1j):
        refuses(ValueError, lambda: espalier.cholesky(A, beta), "beta")


def test_products_with_the_adjoint_are_factorized():
    A, b = general(dtype=np.complex128)[:, :40], block(60, 1, float)[:, 0]
    B = A @ A.conj().T + sparse.identity(60)
    analyzed = espalier.analyze_AAt(A)
    analyzed.cholesky_AAt_inplace(A, 1)
    for factor in (espalier.cholesky_AAt(A, 1), analyzed, analyzed.cholesky_AAt(A, 1)):
        assert error(B, factor(b), b) < 1e-14


def test_an_analysis_has_no_factors_yet():
    A, b = laplacian(4), np.ones(64)
    analyzed = espalier.analyze(A, ordering_method="natural")
    for factor in (analyzed, analyzed.copy(), copy.deepcopy(analyzed), pickle.loads(pickle.dumps(analyzed))):
        assert factor.shape == (64, 64) and factor.dtype == np.float64 and repr(factor) == repr(analyzed)
        assert factor.nnz == analyzed.nnz
        for call in (factor, factor.solve_L, factor.apply_P):
            refuses(espalier.InputError, lambda: call(b), "factorize")
        factor.cholesky_inplace(A)
        assert error(A, factor(b), b) < 1e-14


def test_unused_elements_of_the_arrays_are_ignored():
    A, b = laplacian(4), np.ones(64)
    for longer in (A.copy(), A.tocsr()):
        longer.indices = np.append(longer.indices, np.zeros(4, longer.indices.dtype))
        longer.data = np.append(longer.data, np.full(4, 7.0))
        assert longer.nnz == A.nnz
        assert error(A + IDENTITY, espalier.cholesky(longer, 1)(b), b) < 1e-14
        factor = espalier.analyze(longer)
        factor.cholesky_inplace(longer, 2)
        assert error(A + 2 * IDENTITY, factor(b), b) < 1e-14
        for symmetric in (False, True):
            x = espalier.solve_batch(longer, longer.data[np.newaxis, :-4], b[np.newaxis], symmetric=symmetric)
            assert error(A, x[0], b) < 1e-14


def test_arguments_are_those_of_scikit_sparse():
    A = laplacian(4)
    for method, ordering in [("amd", "amd"), ("colamd", "amd"), ("nesdis", "scotch"), ("natural", "natural")]:
        factor = espalier.cholesky(A, 0, "supernodal", method, True)
        assert factor.solver.options["ordering"] == ordering
    assert espalier.cholesky(A, ordering_method="amd", ordering="metis").solver.options["ordering"] == "metis"
    refuses(ValueError, lambda: espalier.cholesky(A, ordering_method="mestis"), "ordering_method = 'mestis'; it is one of")
    refuses(ValueError, lambda: espalier.analyze(A, "super"), "mode = 'super'; it is")
    refuses(TypeError, lambda: espalier.cholesky_AAt(A.toarray()), "scipy.sparse")
    refuses(ValueError, lambda: espalier.cholesky(A[:, :3], 1), "square")


@pytest.mark.parametrize("factorize, make", MAKERS)
def test_right_hand_sides_are_checked(factorize, make):
    A = matrix_of(make, np.float64)
    n = A.shape[0]
    factor = factorize(A)
    names = ["apply_P", "apply_Pt", "solve_A", "solve_L", "solve_Lt", "solve_D", "solve_LD", "solve_DLt", "solve_LDLt"]
    for method in [getattr(factor, name) for name in names]:
        for b in (np.ones(n + 1), np.ones(3), np.ones((1, n)), np.ones((n, 2, 2)), 1.0, None):
            refuses(ValueError, lambda: method(b), rf"b has shape .*; it must be \({n},\) or \({n}, k\)")
        refuses(TypeError, lambda: method(np.array(["a"] * n)), "not supported")
        columns = sparse.identity(n, format="csr")[:, :2]
        np.testing.assert_allclose(method(columns), method(columns.toarray()))


def test_an_empty_matrix_has_empty_factors():
    for factorize in (espalier.cholesky, espalier.ldl):
        factor = factorize(sparse.csc_matrix((0, 0)))
        assert factor.L().shape == factor.L_D()[1].shape == (0, 0)
        assert factor.D().shape == factor.solve_L(np.ones(0)).shape == (0,)
    for kind, D, U in (("llh", None, None), ("ldlt", (0, 0), None), ("lu", None, (0, 0))):
        solver = espalier.Solver(symmetric=kind != "lu", factorization=kind)
        factors = solver.factorize(sparse.csc_matrix((0, 0))).factors()
        assert factors.L.shape == (0, 0)
        assert tuple(None if factor is None else factor.shape for factor in (factors.D, factors.U)) == (D, U)


def test_mode_chooses_supernodes():
    A = laplacian(4)
    paths = {mode: espalier.cholesky(A, mode=mode).solver.report["settings"]["factor_path"]
             for mode in ("auto", "simplicial", "supernodal")}
    assert paths == {"auto": "supernodal", "simplicial": "simplicial", "supernodal": "supernodal"}
    single, blocks = (espalier.cholesky(A, mode=mode) for mode in ("simplicial", "supernodal"))
    for factor in (single, blocks):
        L, P = factor.L(), factor.P()
        assert abs(L @ L.T - A[P][:, P]).max() < 1e-14
    b = np.arange(64.0)
    assert np.allclose(single(b), blocks(b), rtol=1e-13)
    half = single.solve_L(single.apply_P(b), use_LDLt_decomposition=False)
    assert np.allclose(single.solve_Lt(half, use_LDLt_decomposition=False), single.apply_P(single(b)), rtol=1e-12)
