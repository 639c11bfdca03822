"""Errors and warnings have the classes that a Python program expects."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy import sparse

import espalier
from matrices import general, hermitian, laplacian, refuses


def test_unknown_options_and_values_are_refused():
    refuses(TypeError, lambda: espalier.Solver(orderin="metis"), "orderin.*ordering")
    refuses(TypeError, lambda: espalier.spsolve(laplacian(2), np.ones(8), **{"max-memory": "4G"}), "max-memory")
    with pytest.raises(ValueError, match="lots.*scotch|lots") as caught:
        espalier.Solver(refine="lots")
    assert isinstance(caught.value, espalier.EspalierError) and caught.value.status == "usage"
    for wrong in ({"threads": -1}, {"threads": 1.5}, {"max_memory": "4X"}, {"condition": "maybe"}, {"tolerance": -1}):
        refuses(ValueError, lambda: espalier.Solver(**wrong), next(iter(wrong)))
    for wrong in ({"threads": [1]}, {"schur": [0.5]}, {"progress": 3}, {"log": "file"}):
        refuses(TypeError, lambda: espalier.Solver(**wrong))
    refuses(ValueError, lambda: espalier.Solver(symmetric="very"), "symmetric")


def test_misspelled_names_get_a_suggestion():
    refuses(TypeError, lambda: espalier.Solver(orderng="metis"), "did you mean 'ordering'")
    refuses(ValueError, lambda: espalier.Solver(schedule="statik"), "did you mean 'static'")
    refuses(OSError, lambda: espalier.Solver(ordering="mestis").factorize(laplacian(2)), "did you mean 'metis'")


def test_messages_count_rows_from_0():
    A = laplacian(2).tolil()
    A[3, 3] = -20
    at_3 = r"row and column 3 .*\(counted from 0\)"
    refuses(espalier.NotPositiveDefiniteError, lambda: espalier.cholesky(A.tocsc(), ordering="natural"), at_3)
    A[3, :] = 0
    refuses(espalier.SingularMatrixError, lambda: espalier.lu(A.tocsc()), r"row 3 .*\(counted from 0\)")
    A[:, 3] = 0
    refuses(espalier.SingularMatrixError, lambda: espalier.Solver().factorize(A.tocsc()), r"row 3 .*\(counted from 0\)")
    A[3, 3] = np.nan
    refuses(espalier.InputError, lambda: espalier.Solver().factorize(A.tocsc()), r"row 3, column 3 \(counted from 0\)")


def test_arguments_of_a_wrong_kind_are_named():
    for call in (lambda: espalier.Solver(comm=3), lambda: espalier.follow(3), lambda: espalier.DistributedSolver(3)):
        refuses(TypeError, call, "^comm = 3; it must be a communicator of mpi4py")
    A = laplacian(2).tocsc()
    A.indptr = A.indptr[:0]
    for call in (lambda: espalier.spsolve(A, np.ones(8)), lambda: espalier.factorized(A)):
        refuses(espalier.InputError, call, "there are 0 column starts")
    refuses(ValueError, lambda: espalier.solve_batch(A, np.ones((1, 8)), np.ones((1, 8))), "A.indptr has 0 elements")


def test_a_batch_without_systems_checks_its_options():
    A = laplacian(2).tocsc()
    values, b = np.empty((0, A.nnz)), np.empty((0, 8))
    assert espalier.solve_batch(A, values, b, threads=1).shape == (0, 8)
    refuses(TypeError, lambda: espalier.solve_batch(A, values, b, orderin="metis"), "orderin.*ordering")


def test_calls_without_factors_are_named():
    without = espalier.Solver()
    analyzed = espalier.Solver(supernodes="on").analyze(laplacian(2))
    incomplete = espalier.Solver(method="ilu").factorize(laplacian(2))
    for name in ("slogdet", "determinant"):
        refuses(espalier.InputError, getattr(without, name), f"^{name} was called before factorize")
        refuses(espalier.InputError, getattr(analyzed, name), f"^{name} was called before factorize, or after a failed call")
        refuses(espalier.InputError, getattr(incomplete, name), f"^{name} needs complete factors")


def test_solvers_are_copied_with_their_settings():
    A, b = laplacian(2), np.ones(8)
    solver = espalier.Solver(symmetric="symmetric", ordering="metis", tolerance=1e-9, schur=[1, 5]).factorize(A)
    for make in (copy.copy, copy.deepcopy, lambda owner: pickle.loads(pickle.dumps(owner))):
        other = make(solver)
        assert other.options == solver.options and other.symmetry == "symmetric"
        np.testing.assert_allclose(other.schur_complement(), solver.schur_complement())
        assert make(espalier.Solver(threads=1)).shape is None
        np.testing.assert_allclose(make(espalier.ilu(A)) @ b, espalier.ilu(A) @ b)
        np.testing.assert_allclose(make(espalier.factorized(A))(b), espalier.spsolve(A, b))
        np.testing.assert_allclose(make(espalier.lu(A).inverse()) @ b, espalier.spsolve(A, b))
    refused = espalier.cholesky(A)
    refuses(np.linalg.LinAlgError, lambda: refused.refactorize(-A))
    assert repr(refused.copy()) == "<espalier.Factor without a matrix>"
    refuses(espalier.InputError, lambda: refused.copy().shape, "shape was called before analyze")
    lines = []
    solver = espalier.Solver(log=lines.append, symmetric=False).factorize(A)
    number = len(lines)
    assert solver.copy(matrix=False).shape is None and len(lines) == number
    copy.copy(solver)
    assert len(lines) > number
    np.testing.assert_allclose(A @ solver.solve(b), 1)


def test_options_are_those_that_were_given():
    solver = espalier.Solver(ordering="metis", threads=np.int64(2), max_memory="4G", tolerance=1e-10, matching=True,
                             condition=None)
    assert solver.options["ordering"] == "metis"
    assert solver.options["threads"] == "2"
    assert espalier.Solver(threads=0).options["threads"] == "auto"  # all cores
    assert solver.options["matching"] == "on"
    assert float(solver.options["tolerance"]) == 1e-10
    assert solver.options["condition"] == espalier.default_options()["condition"] == "off"
    solver.set_options(refine="gmres")
    assert solver.options["refine"] == "gmres" and solver.options["ordering"] == "metis"
    refuses(ValueError, lambda: solver.set_options(ordering="amd", refine="lots"))
    assert solver.options["ordering"] == "metis"
    solver.factorize(laplacian(3)).set_options(refine="none")
    solver.solve(np.ones(27))
    assert solver.report["refine"]["method"] == "none"


def test_a_missing_ordering_file_is_an_error():
    with pytest.raises(OSError) as caught:
        espalier.Solver(ordering="/nonexistent/order").factorize(laplacian(2))
    assert caught.value.status == "io_error"


def test_invalid_machines_are_refused(tmp_path):
    for wrong in ("numa:0", "", "two nodes"):
        refuses(espalier.InputError, lambda: espalier.Solver(topology=wrong).analyze(laplacian(2)))
    refuses(OSError, lambda: espalier.Solver(topology="/nonexistent/machine.xml").analyze(laplacian(2)), "nonexistent")
    solver = espalier.Solver(record_trace=True).analyze(laplacian(2))
    for wrong in ((0,), (-1, 2), (1, -1), (2**15, 2**15)):
        refuses(ValueError, lambda: solver.predict(*wrong))
    for wrong in ("", "nul\0byte"):
        refuses(ValueError, lambda: solver.write_trace(wrong), "not the name of a file")
    refuses(OSError, lambda: solver.write_trace(tmp_path / "nowhere" / "t.paje"), "nowhere")
    refuses(OSError, lambda: solver.predict(2, 2, trace=tmp_path / "nowhere" / "t.paje"), "nowhere")


def test_arguments_of_another_kind_are_named():
    A, b = laplacian(2), np.ones(8)
    solver = espalier.Solver(symmetric=np.True_, record_trace=True).factorize(A)
    assert solver.symmetry == "symmetric"
    assert espalier.Solver(symmetric=np.False_).factorize(A).symmetry == "general"
    np.testing.assert_allclose(solver.solve(b, refine=np.False_), solver.solve(b))
    for wrong in ("no", None, 2):
        refuses(TypeError, lambda: solver.solve(b, refine=wrong), f"^refine = {wrong!r}; it must be True or False$")
    refuses(TypeError, lambda: solver.predict(1.5), "^processes = 1.5; it must be an integer$")
    refuses(TypeError, lambda: solver.predict(1, "2"), "^threads = '2'; it must be an integer$")
    refuses(espalier.InputError, lambda: solver.predict(2**40), "^processes = 1099511627776; it must be between 1 and ")
    refuses(espalier.InputError, lambda: solver.predict(1, 2**40), "^threads = 1099511627776; .* between 0 and ")
    refuses(TypeError, lambda: solver.predict(1, 1, name=None), "^name = None; it must be a string$")
    refuses(TypeError, lambda: solver.write_trace("never.paje", None), "^name = None; it must be a string$")
    for sign in ("+", 2, 0.5):
        refuses(espalier.InputError, lambda: solver.update(b, sign), f"^sign = {re.escape(repr(sign))}; .* 1 or -1$")
    for trans in (["N"], 1, None, "C"):
        refuses(ValueError, lambda: solver.solve(b, trans), f"^trans = {re.escape(repr(trans))}; ")
    refuses(espalier.InputError, lambda: espalier.Solver(schur=[2**63]), "^option schur contains 9223372036854775808,")


def test_objects_other_than_matrices_are_refused():
    for wrong in (np.eye(3), [[1.0]], None):
        refuses(TypeError, lambda: espalier.spsolve(wrong, np.ones(3)), "scipy.sparse")
    refuses(TypeError, lambda: espalier.spsolve(sparse.csc_matrix(np.eye(2)), np.array(["a", "b"])))
    refuses(ValueError, lambda: espalier.Solver().factorize(sparse.csc_matrix(np.ones((3, 2)))), "3 rows and 2 columns")
    A = general()
    A.data[3] = np.nan
    refuses(ValueError, lambda: espalier.Solver().analyze(A), "(?i)nan")


def test_corrupt_index_arrays_are_refused():
    for format in ("csc", "csr"):
        for break_it in (
            lambda A: A.indices.__setitem__(5, 60),
            lambda A: A.indices.__setitem__(5, -1),
            lambda A: A.indptr.__setitem__(3, 10**6),
            lambda A: A.indptr.__setitem__(-1, 10**6),
            lambda A: A.indptr.__setitem__(-1, -5),
            lambda A: A.indptr.__setitem__(0, 2),
        ):
            A = general().asformat(format)
            break_it(A)
            refuses(ValueError, lambda: espalier.spsolve(A, np.ones(60)))
    A = general().tocoo()
    A.row[7] = 99
    refuses(ValueError, lambda: espalier.spsolve(A, np.ones(60)), "99")


def test_wrong_right_hand_sides_are_refused():
    solver = espalier.Solver().factorize(general())
    for wrong in (np.ones(59), np.ones((2, 60)), np.ones((60, 1, 1)), 1.0, sparse.csc_matrix((59, 1))):
        refuses(ValueError, lambda: solver.solve(wrong), "shape")
    b = np.ones((60, 2))
    b[7, 1] = np.inf
    refuses(ValueError, lambda: solver.solve(b), "row 7 of column 1")
    refuses(ValueError, lambda: solver.solve(np.ones(60), "t"), "trans")
    refuses(ValueError, lambda: solver.refine(np.ones(60), np.ones((60, 1))))


def test_calls_out_of_order_are_refused():
    solver = espalier.Solver()
    for call in (lambda: solver.solve([1.0]), lambda: solver.report, solver.inertia, solver.slogdet, solver.rcond,
                 solver.null_space, solver.schur_complement, lambda: solver.refine([1.0], [1.0])):
        refuses(espalier.InputError, call, "before factorize")
    for call in (solver.predict, lambda: solver.write_trace("t.paje")):
        refuses(espalier.InputError, call, "before analyze")
    solver.analyze(general())
    for call in (lambda: solver.solve(np.ones(60)), lambda: solver.refine(np.ones(60), np.ones(60)), solver.rcond,
                 solver.slogdet, solver.null_space, lambda: solver.solve(sparse.csc_matrix(np.ones((60, 1))))):
        refuses(espalier.InputError, call)
    refuses(espalier.InputError, lambda: espalier.Solver().factorize(general()).inertia())
    refuses(espalier.InputError, lambda: espalier.Solver().factorize(general()).schur_complement())


def test_a_structurally_singular_matrix_is_an_error_and_a_numerically_singular_one_a_warning():
    A = general().tolil()
    A[5, :] = 0
    with pytest.raises(espalier.SingularMatrixError) as caught:
        espalier.spsolve(A, np.ones(60))
    assert caught.value.status == "singular" and isinstance(caught.value, np.linalg.LinAlgError)
    # The Laplacian of a ring maps constants to zero.
    ring = sparse.diags([-np.ones(39), 2 * np.ones(40), -np.ones(39)], [-1, 0, 1], format="lil")
    ring[0, 39] = ring[39, 0] = -1
    with pytest.warns(espalier.SingularMatrixWarning, match="singular") as found:
        espalier.spsolve(ring, np.arange(40))
    assert found[0].filename == __file__
    # A right-hand side in the range has a solution, which is delivered.
    A = sparse.csc_matrix([[1.0, 2.0], [2.0, 4.0]])
    solver = espalier.Solver().factorize(A)
    with pytest.warns(espalier.SingularMatrixWarning):
        x = solver.solve(np.array([1.0, 2.0]))
    assert np.abs(A @ x - [1, 2]).max() <= 1e-15 * (6 * np.abs(x).max() + 2)
    assert solver.report["factor"]["numerically_singular"] and solver.report["factor"]["condition_estimate"] > 1e15


def test_a_failed_factorization_keeps_the_analysis():
    solver = espalier.Solver(symmetric=False, factorization="llh")
    refuses(ValueError, lambda: solver.factorize(laplacian(2)))  # a general matrix has no Cholesky factor
    assert solver.shape is None
    solver = espalier.Solver(factorization="llh")
    refuses(espalier.NotPositiveDefiniteError, lambda: solver.factorize(-laplacian(2)))
    assert solver.shape == (8, 8) and solver.report["analysis"]["nnz_factor"] > 0
    refuses(ValueError, lambda: solver.factorize(np.nan * laplacian(3)))
    assert solver.shape == (8, 8)


def has_no_factors(solver, n):
    b = np.ones(n)
    for call in (lambda: solver.solve(b), lambda: solver.solve(b, refine=False), lambda: solver.refine(b, b),
                 lambda: solver.solve(sparse.csc_matrix(b[:, None])), solver.rcond, solver.slogdet, solver.null_space):
        refuses(espalier.InputError, call, "before factorize")


def test_after_a_failed_factorization_no_numbers_of_the_earlier_one_are_given():
    singular = general()
    singular.data[singular.indices == 5] = 0
    for A, failing, error, options in (
        (laplacian(4), -laplacian(4), espalier.NotPositiveDefiniteError, {"factorization": "llh"}),
        (general(), singular, espalier.SingularMatrixError, {"supernodes": "off"}),
        (general(), singular, espalier.SingularMatrixError, {"supernodes": "on"}),
    ):
        solver = espalier.Solver(**options).factorize(A)
        b = np.ones(A.shape[0])
        x = solver.solve(b)
        refuses(error, lambda: solver.factorize(failing))
        has_no_factors(solver, b.size)
        np.testing.assert_array_equal(solver.factorize(A).solve(b), x)


def test_after_a_refused_matrix_there_are_no_factors():
    A, b = general(), np.ones(60)
    with_nan, broken = A.copy(), A.copy()
    with_nan.data[3] = np.nan
    broken.indices[3] = 99
    for refused, error, options in (
        (with_nan, ValueError, {}),
        (broken, ValueError, {}),
        (A.toarray(), TypeError, {}),
        (laplacian(4), espalier.InputError, {"reanalyze": False}),
        (A.astype(np.float32) * np.float32(np.nan), ValueError, {}),
    ):
        solver = espalier.Solver(supernodes="on").factorize(A)
        x = solver.solve(b)
        refuses(error, lambda: solver.factorize(refused, **options))
        has_no_factors(solver, b.size)
        for call in (lambda: solver.update(b), solver.factors, solver.selected_inverse, solver.inverse_diagonal):
            refuses(espalier.InputError, call, "before factorize")
        assert solver.copy().shape is None  # without a matrix
        assert solver.report["analysis"]["nnz_factor"] > 0 and solver.predict().tasks > 0
        np.testing.assert_array_equal(solver.factorize(A).solve(b), x)


def test_an_accuracy_warning_points_to_the_caller():
    A, b = hermitian(), np.ones(50)
    with pytest.warns(espalier.AccuracyWarning, match="backward error") as found:
        espalier.spsolve(A, b, tolerance=1e-30)
    assert found[0].filename == __file__
    solver = espalier.Solver(tolerance=1e-30).factorize(A)
    for call in (lambda: solver.solve(b), lambda: solver.solve(sparse.csc_matrix(b[:, None])),
                 lambda: solver.refine(b, b)):
        with pytest.warns(espalier.AccuracyWarning) as found:
            call()
        assert found[0].filename == __file__
    assert solver.report["refine"]["status"] == "inaccurate"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.solve(b, refine=False)


def test_messages_name_the_option_schur_as_python_spells_it():
    A, b = laplacian(3), np.ones(27)
    refuses(espalier.InputError, lambda: espalier.Solver().factorize(A).condense(b), "the option schur is empty")
    keeps = espalier.Solver(schur=[1, 2]).factorize(A)
    refuses(espalier.InputError, lambda: keeps.solve(b), "the option schur keeps 2 of them")
    values, columns = np.tile(A.data, (2, 1)), np.ones((2, 27))
    refuses(espalier.InputError, lambda: espalier.solve_batch(A, values, columns, schur=[1]), "^the option schur must be")


def test_a_refused_right_hand_side_is_described_as_it_was_given():
    solve = espalier.factorized(general())
    b = np.ones((60, 2), complex)
    b[7, 1] = complex(2, np.nan)
    refuses(ValueError, lambda: solve(b), r"2\+nanj.* in row 7 of column 1$")
    b[7, 1] = complex(np.inf, 0)
    refuses(ValueError, lambda: solve(b), r"inf.* in row 7 of column 1$")
    refuses(ValueError, lambda: solve(b[:, 1]), r"inf.* in row 7 of column 0$")
    refuses(espalier.InputError, lambda: solve(sparse.csc_matrix(b)), "^b: value .* is infinite")
    solver = solve.__self__
    refuses(espalier.InputError, lambda: solver.update(np.full(60, np.nan)), "^W: value .* is NaN")
    single = espalier.factorized(general(dtype=np.float32))
    refuses(ValueError, lambda: single(np.full(60, 1e300)), r"1e\+300 in row 0 of column 0, which overflows in float32")


def test_parts_of_a_complex_solution_that_overflow_stay_infinite():
    A = sparse.csc_matrix(np.diag([1e-200, 1.0]))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        x = espalier.spsolve(A, np.array([1e200 + 1e200j, 1.0]))
    assert [one.category for one in found] == [espalier.AccuracyWarning]
    assert x[0].real == np.inf and x[0].imag == np.inf and x[1] == 1


def test_an_indefinite_matrix_has_no_cholesky_factor_and_the_solver_remains_usable():
    A = hermitian()
    solver = espalier.Solver(factorization="llh")
    with pytest.raises(espalier.NotPositiveDefiniteError) as caught:
        solver.factorize(A)
    assert caught.value.status == "not_positive_definite" and isinstance(caught.value, np.linalg.LinAlgError)
    solver.set_options(factorization="ldlh")
    x = solver.analyze(A).factorize(A).solve(np.ones(50))
    np.testing.assert_allclose(A @ x, np.ones(50), atol=1e-12)


def test_a_memory_limit_is_respected():
    with pytest.raises(MemoryError, match="10240 bytes") as caught:
        espalier.spsolve(laplacian(10), np.ones(1000), max_memory="10K")
    assert isinstance(caught.value, espalier.OutOfMemoryError)
