"""Results of the analysis and the factorization other than solutions."""

import gzip
import re

import numpy as np
import pytest
from scipy import sparse

import espalier
from matrices import DTYPES, block, general, hermitian, laplacian, refuses, tolerance


@pytest.mark.parametrize("dtype", DTYPES)
def test_inertia_equals_the_signs_of_the_eigenvalues(dtype):
    A = hermitian(dtype=dtype)
    values = np.linalg.eigvalsh(A.toarray())
    inertia = espalier.Solver(factorization="auto").factorize(A).inertia()
    assert inertia == ((values > 0).sum(), (values < 0).sum(), 0)
    assert inertia.positive + inertia.negative == A.shape[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [general, hermitian])
def test_determinant_equals_that_of_the_dense_matrix(make, dtype):
    A = make(30, dtype=dtype)
    sign, logabsdet = np.linalg.slogdet(A.toarray().astype(complex))
    solver = espalier.Solver().factorize(A)
    found = solver.slogdet()
    np.testing.assert_allclose(found.sign, sign, atol=tolerance(dtype))
    assert found.logabsdet == pytest.approx(logabsdet, rel=1e-4)
    assert np.iscomplexobj(found.sign) == (np.dtype(dtype).kind == "c")
    assert solver.determinant() == pytest.approx(sign * np.exp(logabsdet), rel=1e-2)


def test_determinant_overflows_to_infinity_and_slogdet_does_not():
    solver = espalier.Solver().factorize(sparse.identity(200, format="csc") * -1e3)
    assert solver.slogdet() == (1.0, pytest.approx(200 * np.log(1e3)))
    assert solver.determinant() == np.inf


def test_rcond_is_within_a_factor_ten():
    A = general()
    truth = 1 / np.linalg.cond(A.toarray(), 1)
    found = espalier.Solver().factorize(A).rcond()
    assert truth / 10 < found < truth * 10


def test_null_space_of_a_singular_matrix():
    # Laplacian of a graph with two components: vectors constant on each component are null vectors.
    line = sparse.diags([-np.ones(9), [1.0] + 8 * [2.0] + [1.0], -np.ones(9)], [-1, 0, 1])
    A = sparse.block_diag([line, 2 * line], format="csc")
    null_space = espalier.Solver(allow_singular=True).factorize(A).null_space()
    assert null_space.rank == 18 and null_space.basis.shape == (20, 2)
    np.testing.assert_allclose(A @ null_space.basis, 0, atol=1e-12)
    np.testing.assert_allclose(null_space.basis.T @ null_space.basis, np.eye(2), atol=1e-12)
    assert (np.diff(null_space.singular_values) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("make", [general, hermitian])
def test_schur_complement_condenses_and_expands(make, dtype):
    A = make(40, dtype=dtype)
    dense, b = A.toarray(), block(40, 2, dtype)
    s = np.array([7, 3, 22])
    i = np.setdiff1d(np.arange(40), s)
    solver = espalier.Solver(schur=s).factorize(A)
    S = solver.schur_complement()
    inner = np.linalg.solve(dense[np.ix_(i, i)], np.hstack([dense[np.ix_(i, s)], b[i]]))
    np.testing.assert_allclose(S, dense[np.ix_(s, s)] - dense[np.ix_(s, i)] @ inner[:, :3], atol=1e-10)
    condensed = solver.condense(b)
    np.testing.assert_allclose(condensed, b[s] - dense[np.ix_(s, i)] @ inner[:, 3:], atol=1e-10)
    x_schur = np.linalg.solve(S, condensed)
    np.testing.assert_allclose(dense @ solver.expand(b, x_schur), b, atol=1e-9)
    one = solver.expand(b[:, 0], x_schur[:, 0])
    np.testing.assert_allclose(dense @ one, b[:, 0], atol=1e-9)
    for trans, turned in (("T", np.transpose), ("H", lambda a: a.conj().T)):
        x_schur = np.linalg.solve(turned(S), solver.condense(b, trans))
        np.testing.assert_allclose(turned(dense) @ solver.expand(b, x_schur, trans), b, atol=1e-9)
    for none in (np.ones((40, 0)), np.ones((40, 0), complex)):
        assert solver.condense(none).shape == (3, 0)
        assert solver.expand(none, solver.condense(none)).shape == (40, 0)
    refuses(ValueError, lambda: solver.condense(b, "X"), "trans")
    refuses(ValueError, lambda: solver.solve(b))
    solver.set_options(schur=range(30))  # for the next analysis
    np.testing.assert_array_equal(solver.condense(b), condensed)


def test_the_report_is_a_dict_like_the_json():
    solver = espalier.Solver(threads=1, condition=True).factorize(laplacian(5))
    solver.solve(np.ones((125, 2)))
    report = solver.report
    assert report["threads"] == 1
    assert report["settings"]["factorization"] == "llh"
    assert report["analysis"]["nnz_factor"] > 125 and isinstance(report["analysis"]["cblks"], int)
    assert report["solve"]["nrhs"] == 2
    assert 0 <= report["backward_error"] < 1e-12
    assert report["refine"]["status"] == "ok" and report["refine"]["converged"] is True
    assert 0 < report["factor"]["rcond"] < 1
    assert 0 < report["refine"]["forward_error"] < 1e-10
    assert all(isinstance(note, str) for note in report["notes"]) and report["notes"]
    plain = espalier.Solver().factorize(laplacian(2))
    plain.solve(np.ones(8))
    assert plain.report["factor"]["rcond"] is None and plain.report["refine"]["forward_error"] is None
    assert plain.report["settings"]["schedule_expected_s"] is None


def test_refine_improves_a_given_solution():
    A, b = general(), block(60, 1, float)[:, 0]
    solver = espalier.Solver(refine="ir").factorize(A)
    rough = solver.solve(b, refine=False) * (1 + 1e-6)
    start = rough.copy()
    x = solver.refine(b, rough)
    np.testing.assert_array_equal(rough, start)
    assert np.abs(A @ x - b).max() < 1e-3 * np.abs(A @ rough - b).max()
    assert solver.report["refine"]["iterations"] >= 1


def test_predictions_of_any_machine_add_up(tmp_path):
    solver = espalier.Solver(topology="numa:2 core:2", threads=2, calibration=False, comm_own_core=True)
    solver.analyze(laplacian(8))
    assert solver.options["topology"] == "numa:2 core:2" and solver.options["calibration"] == "off"
    assert solver.report["analysis"]["cost_model"] == "default"
    here = solver.predict(threads=2)
    assert here.factor_s == pytest.approx(solver.report["analysis"]["predicted_factor_s"])
    assert here.solve_s == pytest.approx(solver.report["analysis"]["predicted_solve_s"]) and here.solve_s > 0
    assert here.messages == here.comm_threads == here.communication_s == 0 and here.idle_s.shape == (1, 2)
    path = tmp_path / "predicted.paje"
    there = solver.predict(3, trace=path, name="lap3d:8")
    assert (there.processes, there.threads) == (3, 4) == there.idle_s.shape  # 0 threads: the cores of the topology
    assert there.work_s + there.idle_s.sum() == pytest.approx(12 * there.factor_s)
    assert there.efficiency == pytest.approx(there.work_s / (12 * there.factor_s))
    assert 0 < there.critical_path_s <= there.factor_s * (1 + 1e-12)
    assert sum(process.busy_s for process in there.process) == pytest.approx(there.work_s)
    assert sum(process.cblks for process in there.process) == solver.report["analysis"]["cblks"]
    assert sum(process.messages_sent for process in there.process) == there.messages > 0
    assert there.tasks > 0 and all(process.memory_bytes > process.fan_in_bytes for process in there.process)
    text = path.read_text()
    assert text.startswith("%EventDef") and "lap3d:8" in text
    assert there.comm_threads == 1 and there.communication_s == 0  # communication threads have their own cores
    assert here.notes == there.notes == ()
    solver.set_options(comm_threads=0, split="2d")
    solver.analyze(laplacian(8))
    assert solver.predict(threads=1).notes == ("split 2d has no effect with one thread",)
    workers = solver.predict(3)
    assert workers.comm_threads == 0 < workers.communication_s
    assert workers.work_s + workers.communication_s + workers.idle_s.sum() == pytest.approx(12 * workers.factor_s)


def test_a_run_is_written_as_a_trace(tmp_path):
    A = laplacian(5)
    solver = espalier.Solver(record_trace=True, threads=2).factorize(A)
    solver.solve(np.ones(125))
    solver.write_trace(str(tmp_path / "run.paje.gz"), name="lap3d:5")
    with gzip.open(tmp_path / "run.paje.gz", "rt") as file:
        text = file.read()
    assert text.startswith("%EventDef") and "lap3d:5" in text
    solver.set_options(record_trace=False)
    solver.analyze(A)
    refuses(espalier.InputError, lambda: solver.write_trace(tmp_path / "nothing.paje"), "record_trace")
    assert [file.name for file in tmp_path.iterdir()] == ["run.paje.gz"]


def test_the_report_has_the_fields_that_the_documentation_names():
    solver = espalier.Solver().factorize(laplacian(4))
    solver.solve(np.ones(64))
    documented = "".join(str(one.__doc__) for one in vars(espalier.Solver).values())
    named = re.findall(r'report((?:\["\w+"\])+)', documented)
    assert len(named) >= 3
    for keys in named:
        field = solver.report
        for key in re.findall(r'"(\w+)"', keys):
            assert key in field, keys
            field = field[key]
