"""Solutions for every kind of matrix and right-hand side."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import espalier
from espalier import _functions
from matrices import DTYPES, block, error, general, hermitian, laplacian, refuses, tolerance


def snapshot(A):
    names = {"coo": ("row", "col", "data"), "dia": ("offsets", "data")}.get(A.format, ("indptr", "indices", "data"))
    return [(name, getattr(A, name).copy()) for name in names]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [general, hermitian])
def test_solves_in_every_scalar_type(make, dtype):
    A = make(dtype=dtype)
    b = block(A.shape[0], 3, dtype)
    x = espalier.spsolve(A, b)
    assert x.dtype == dtype and x.shape == b.shape
    assert error(A, x, b) < 10 * np.finfo(dtype).eps
    np.testing.assert_allclose(x, np.linalg.solve(A.toarray(), b), rtol=0, atol=tolerance(dtype))


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("format", ["csc", "csr", "coo", "dia", "bsr", "lil", "dok"])
def test_takes_every_format_and_modifies_none(format, kind):
    A = getattr(sparse, f"{format}_{kind}")(general())
    stored = snapshot(A) if hasattr(A, "data") and format not in ("lil", "dok") else []
    b = block(60, 1, float)[:, 0]
    x = espalier.spsolve(A, b)
    assert x.shape == (60,)
    np.testing.assert_allclose(general() @ x, b, atol=1e-12)
    for name, before in stored:
        np.testing.assert_array_equal(getattr(A, name), before)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("format", ["csc", "csr"])
def test_takes_unsorted_indices_of_either_width_with_duplicates(format, kind):
    A = general().asformat(format)
    starts, indices, data = [0], [], []
    for k in range(60):
        part = slice(A.indptr[k], A.indptr[k + 1])
        # Each entry is the sum of two halves; the second halves are in reverse order.
        indices += [*A.indices[part], *A.indices[part][::-1]]
        data += [*A.data[part] / 2, *A.data[part][::-1] / 2]
        starts.append(len(indices))
    arrays = np.array(data), np.array(indices, kind), np.array(starts, kind)
    B = type(A)((60, 60))
    B.data, B.indices, B.indptr = arrays
    copies = [array.copy() for array in arrays]
    b = block(60, 2, float)
    np.testing.assert_allclose(espalier.spsolve(B, b), espalier.spsolve(A, b), rtol=1e-12)
    for array, copy in zip((B.data, B.indices, B.indptr), copies):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("given", [np.int8, np.int64, np.uint16, np.longdouble, bool])
def test_other_scalar_types_are_computed_in_double(given):
    A = sparse.csc_matrix(np.array([[4, 1], [0, 2]]).astype(given))
    x = espalier.spsolve(A, np.array([1, 1], given))
    assert x.dtype == np.float64
    np.testing.assert_allclose(x, np.linalg.solve(A.toarray().astype(float), [1.0, 1.0]))


@pytest.mark.parametrize("shape", [(60,), (60, 1), (60, 4), (60, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_solution_has_the_shape_of_the_right_hand_side(shape, order):
    A = general()
    b = np.array(np.random.default_rng(0).standard_normal(shape), order=order)
    before = b.copy()
    x = espalier.spsolve(A, b)
    assert x.shape == shape
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    np.testing.assert_array_equal(b, before)


def test_takes_strided_read_only_and_list_right_hand_sides():
    A = general()
    b = block(60, 6, float)
    b.setflags(write=False)
    np.testing.assert_allclose(A @ espalier.spsolve(A, b[:, ::-2]), b[:, ::-2], atol=1e-12)
    np.testing.assert_allclose(A @ espalier.spsolve(A, list(range(60))), np.arange(60), atol=1e-12)


def test_real_matrix_takes_a_complex_right_hand_side():
    A, b = general(), block(60, 2, complex)
    for form in (b, sparse.csr_matrix(b)):
        x = espalier.factorized(A)(form)
        assert x.dtype == np.complex128
        np.testing.assert_allclose(A @ x, b, atol=1e-12)
    solver = espalier.Solver().factorize(A)
    np.testing.assert_allclose(solver.refine(b, np.zeros_like(b)), x, atol=1e-12)


def test_spsolve_treats_small_matrices_as_general_unless_told_otherwise():
    A = sparse.diags([-1.0, 3.0, -1.0], [-1, 0, 1], shape=(50, 50)).tocsc()
    b = np.arange(50.0)
    for keywords, kind in (({}, "lu"), ({"threads": 1}, "lu"), ({"symmetric": True}, "llh"), ({"ordering": "amd"}, "llh")):
        lines = []
        x = espalier.spsolve(A, b, log=lines.append, **keywords)
        assert any(f"auto chose {kind}" in line for line in lines), (keywords, lines)
        np.testing.assert_allclose(A @ x, b, atol=1e-12)


def test_spsolve_computes_in_the_precision_that_holds_both():
    A, b = general(dtype=np.float32), block(60, 1, float)
    assert espalier.spsolve(A, b).dtype == np.float64
    assert espalier.spsolve(A, b.astype(complex)).dtype == np.complex128
    assert espalier.spsolve(A, b.astype(np.float32)).dtype == np.float32
    assert espalier.spsolve(A, b.astype(np.complex64)).dtype == np.complex64
    assert espalier.factorized(A)(b).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("make", [general, hermitian])
def test_solves_with_the_transpose_and_the_adjoint(make, dtype):
    A = make(dtype=dtype)
    b = block(A.shape[0], 2, dtype)
    solver = espalier.Solver().factorize(A)
    np.testing.assert_allclose(A.T @ solver.solve(b, "T"), b, atol=1e-11)
    np.testing.assert_allclose(A.conj().T @ solver.solve(b, trans="H"), b, atol=1e-11)
    np.testing.assert_allclose(A.conj().T @ solver.solve(b, "H", refine=False), b, atol=1e-11)
    np.testing.assert_allclose(A.T @ solver.refine(b, np.zeros_like(b), "T"), b, atol=1e-11)
    np.testing.assert_allclose(A.T @ solver.solve(sparse.csc_array(b), "T"), b, atol=1e-11)


def test_sparse_right_hand_sides_give_arrays():
    A = laplacian(6)
    b = sparse.random(216, 5, 0.02, random_state=np.random.RandomState(0), format="coo")
    solver = espalier.Solver().factorize(A)
    for x in (solver.solve(b), solver.solve(b, refine=False), espalier.spsolve(A, b.tocsr())):
        assert isinstance(x, np.ndarray)
        np.testing.assert_allclose(x, linalg.spsolve(A, b.toarray()), atol=1e-12)


def test_refine_and_expand_take_sparse_vectors_like_solve():
    A = general()
    b = sparse.random(60, 3, 0.1, random_state=np.random.RandomState(8), format="csr")
    solver = espalier.Solver().factorize(A)
    rough = solver.solve(b, refine=False)
    np.testing.assert_array_equal(solver.refine(b, sparse.csc_matrix(rough)), solver.refine(b.toarray(), rough))
    solver = espalier.Solver(schur=[2, 5]).factorize(A)
    x_schur = np.linalg.solve(solver.schur_complement(), solver.condense(b))
    np.testing.assert_array_equal(solver.expand(b, sparse.csc_matrix(x_schur)), solver.expand(b.toarray(), x_schur))


def test_symmetry_is_detected_exactly_and_can_be_claimed():
    A, H = laplacian(4), hermitian()
    assert espalier.Solver().factorize(A).symmetry == "symmetric"
    assert espalier.Solver().factorize(H).symmetry == "hermitian"
    assert espalier.Solver(symmetric=False).factorize(A).symmetry == "general"
    B = A.copy()
    B[0, 1] += 1e-10
    assert espalier.Solver().factorize(B).symmetry == "general"
    for claimed in (True, "symmetric"):
        for one in (sparse.tril(A), sparse.triu(A, format="csr"), A):
            x = espalier.spsolve(one, np.ones(64), symmetric=claimed)
            np.testing.assert_allclose(A @ x, np.ones(64), atol=1e-12)
    b = block(50, 1, complex)
    x = espalier.spsolve(sparse.triu(H), b, symmetric="hermitian")
    np.testing.assert_allclose(H @ x, b, atol=1e-11)
    B[0, 1] += 1
    refuses(ValueError, lambda: espalier.spsolve(B, np.ones(64), symmetric=True), "mirror|symmetric")


def test_new_values_reuse_the_analysis():
    A = laplacian(5)
    solver = espalier.Solver().analyze(A)
    assert solver.shape == (125, 125) and solver.dtype == np.float64
    b = np.ones(125)
    for scale in (1.0, 3.0):
        np.testing.assert_allclose(scale * (A @ solver.factorize(scale * A).solve(b)), b, atol=1e-12)
    refuses(ValueError, lambda: solver.factorize(laplacian(4), reanalyze=False), "analyze")
    skewed = A.copy()
    skewed[0, 1] *= 2
    refuses(ValueError, lambda: solver.factorize(skewed, reanalyze=False), "analyze")
    np.testing.assert_allclose(skewed @ solver.factorize(skewed).solve(b), b, atol=1e-12)
    # The matrix is analyzed as general. Symmetric values do not change the pattern.
    np.testing.assert_allclose(A @ solver.factorize(A, reanalyze=False).solve(b), b, atol=1e-12)
    assert solver.symmetry == "general"


def test_another_pattern_is_analyzed_again():
    solver = espalier.Solver()
    for size in (3, 4, 4, 2):
        A = laplacian(size)
        x = solver.factorize(A).solve(np.ones(size**3))
        np.testing.assert_allclose(A @ x, 1, atol=1e-12)
        assert solver.shape == A.shape
    A = laplacian(4).tolil()  # of the same size, with two entries more
    A[0, 20] = A[20, 0] = -0.1
    A = A.tocsr()
    np.testing.assert_allclose(A @ solver.factorize(A).solve(np.ones(64)), 1, atol=1e-12)
    # After a failed factorization of another pattern, the solver has the analysis of that pattern.
    refuses(espalier.NotPositiveDefiniteError, lambda: espalier.cholesky(-laplacian(2)))
    strict = espalier.Solver(factorization="llh").factorize(laplacian(3))
    refuses(espalier.NotPositiveDefiniteError, lambda: strict.factorize(-laplacian(2)))
    np.testing.assert_allclose(laplacian(2) @ strict.factorize(laplacian(2)).solve(np.ones(8)), 1, atol=1e-12)
    assert strict.shape == (8, 8)
    refuses(ValueError, lambda: espalier.lu(laplacian(2)).refactorize(laplacian(3)), "analyze")


def test_a_matrix_of_another_scalar_type_is_analyzed_again():
    A, b = laplacian(4), np.ones(64)
    solver = espalier.Solver().factorize(A)
    solver.factorize(A.astype(np.complex64))
    assert solver.dtype == np.complex64
    assert solver.solve(b).dtype == np.complex64


def test_factorized_behaves_like_that_of_scipy():
    A, b = general(), block(60, 1, float)[:, 0]
    solve = espalier.factorized(A, threads=1)
    np.testing.assert_allclose(solve(b), linalg.factorized(A)(b), atol=1e-12)
    assert solve.__self__.options["threads"] == "1"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("form", ["csc", "csr"])
def test_small_systems_are_solved_in_one_call_like_others(dtype, form):
    A = general().astype(dtype).asformat(form)
    b = block(60, 1, dtype)[:, 0].astype(dtype)
    found = _functions._solve_small(A, b)
    assert found.dtype == dtype and found.shape == (60,)
    np.testing.assert_array_equal(found, espalier.spsolve(A, b))
    with_keyword = espalier.spsolve(A, b, symmetric=False)
    np.testing.assert_allclose(found, with_keyword, rtol=1e-3 if found.real.dtype == np.float32 else 1e-9)


def test_other_arguments_are_not_solved_in_one_call():
    A, b = general(), block(60, 1, float)[:, 0]
    for other in (A.tocoo(), A.astype(np.float32), A.astype(int)):
        assert _functions._solve_small(other, b) is None
    for right in (list(b), b[:-1], np.stack([b, b], axis=1), np.where(np.arange(60) == 3, np.nan, b)):
        assert _functions._solve_small(A, right) is None
    with pytest.raises(ValueError, match="row 3"):
        espalier.spsolve(A, np.where(np.arange(60) == 3, np.inf, b))
    with pytest.raises(espalier.SingularMatrixError):
        espalier.spsolve(sparse.csc_matrix(np.zeros((2, 2)) + [[1, 0], [1, 0]]), np.ones(2))
    with pytest.warns(espalier.SingularMatrixWarning) as caught:
        espalier.spsolve(sparse.csc_matrix([[1.0, 2.0], [2.0, 4.0]]), np.ones(2))
    assert caught[0].filename == __file__


def test_later_changes_of_the_caller_arrays_have_no_effect():
    A, b = general(), block(60, 1, float)
    B = A.copy()
    solver = espalier.Solver().factorize(B)
    B.data[:] = np.nan
    np.testing.assert_allclose(A @ solver.solve(b), b, atol=1e-12)


def test_mixed_precision_reaches_the_precision_of_the_matrix():
    A = laplacian(8)
    solver = espalier.Solver(mixed_precision=True).factorize(A)
    x = solver.solve(np.ones(512))
    assert error(A, x, np.ones(512)) < 1e-12
    assert solver.report["factor"]["scalar"] == "s"


@pytest.mark.parametrize("form", ["csc", "csr", "coo"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_batches_have_one_pattern_and_many_values(dtype, form):
    A = general(20, dtype).asformat(form)
    values = np.stack([A.data * (1 + k) + k for k in range(5)])
    for shape in ((5, 20), (5, 20, 3)):
        b = block(5, int(np.prod(shape[1:])), dtype).reshape(shape)
        x = espalier.solve_batch(A, values, b, threads=2)
        assert x.shape == b.shape and x.dtype == dtype
        for k in range(5):
            one = A.copy()
            one.data = values[k]
            assert error(one, x[k], b[k]) < tolerance(dtype)


def test_batches_of_symmetric_matrices_need_the_lower_triangle():
    A = laplacian(2)
    values = np.stack([A.data, 2 * A.data])
    b = np.ones((2, 8))
    x = espalier.solve_batch(A, values, b, symmetric=True, factorization="llh")
    np.testing.assert_allclose(A @ x[0], 1)
    np.testing.assert_allclose(x[1], x[0] / 2)


def test_batches_of_hermitian_matrices_may_have_rounding_errors_in_the_diagonal():
    A, b = hermitian(12), block(12, 2, np.complex128).T
    values = np.stack([A.data, 2 * A.data])
    diagonal = A.tocoo().row == A.tocoo().col
    values[:, diagonal] += 1e-16j * values[:, diagonal].real
    x = espalier.solve_batch(A, values, b, symmetric="hermitian")
    np.testing.assert_allclose(A @ x[0], b[0])
    np.testing.assert_allclose(2 * A @ x[1], b[1])
    values[1, diagonal] += 1e-3j
    refuses(ValueError, lambda: espalier.solve_batch(A, values, b, symmetric="hermitian"), "system 1 .* imaginary part")


def test_batches_say_which_system_fails():
    A = laplacian(2)
    values = np.stack([A.data, 0 * A.data, A.data])
    with pytest.warns(espalier.AccuracyWarning, match="1 of 3 .* first is 1: singular"):
        x = espalier.solve_batch(A, values, np.ones((3, 8)))
    assert np.isnan(x[1]).all() and np.isfinite(x[[0, 2]]).all()
    for wrong in ((values[:, 1:], np.ones((3, 8))), (values, np.ones((2, 8))), (values, np.ones(8))):
        refuses(ValueError, lambda: espalier.solve_batch(A, *wrong), "shape")
    values[2, 3] = np.nan
    refuses(ValueError, lambda: espalier.solve_batch(A, values, np.ones((3, 8))), "system 2 .*NaN")
    twice = sparse.coo_matrix((np.ones(3), ([0, 0, 1], [0, 0, 1])))
    refuses(ValueError, lambda: espalier.solve_batch(twice, np.ones((1, 3)), np.ones((1, 2))), "one position")
    assert espalier.solve_batch(A, values[:0], np.ones((0, 8))).shape == (0, 8)
