"""Behavior during a call: other threads, Ctrl-C, progress and log functions, fork."""

import gc
import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import espalier
from matrices import general, laplacian, refuses

LARGE = 40  # Grid size for which the factorization takes some tenths of a second.


def test_other_threads_run_during_a_factorization():
    A = laplacian(LARGE)
    solver = espalier.Solver(threads=1).analyze(A)
    # Processor time of this process: waiting for other programs does not count.
    longest, last, turns, stop = 0.0, time.process_time(), 0, threading.Event()

    def watch():
        nonlocal longest, last, turns
        while not stop.is_set():
            now = time.process_time()
            longest, last, turns = max(longest, now - last), now, turns + 1
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    before = time.process_time()
    solver.factorize(A)
    taken = time.process_time() - before
    stop.set()
    watcher.join()
    assert turns > 5 and longest < 0.5 * taken + 0.05


def test_threads_may_share_a_solver():
    A = laplacian(8)
    solver = espalier.Solver(threads=2).factorize(A)
    failures = []

    def work(seed):
        b = np.random.default_rng(seed).standard_normal(512)
        try:
            for turn in range(15):
                if seed == 0 and turn % 5 == 0:
                    solver.factorize(A)
                np.testing.assert_allclose(A @ solver.solve(b), b, atol=1e-10)
                assert solver.report["threads"] == 2
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


class Interrupter(threading.Thread):
    """Sends the signal of Ctrl-C soon after the beginning of a phase."""

    def __init__(self, phase):
        super().__init__()
        self.phase = phase
        self.begun = threading.Event()
        self.sent = None
        self.start()

    def on_progress(self, phase, fraction):
        if phase == self.phase:
            self.begun.set()

    def run(self):
        if self.begun.wait(60):
            time.sleep(0.02)
            self.sent = time.process_time()
            os.kill(os.getpid(), signal.SIGINT)

    def interrupts(self, call):
        """Whether the signal ended the call. It may come too late if other programs use the processor."""
        ended = False
        try:
            call()
            ended = True
            self.join()
            time.sleep(60)  # until the signal arrives
            pytest.fail("there was no signal")
        except KeyboardInterrupt:
            pass
        self.join()
        return not ended


def larger_and_larger(attempt):
    """Attempts an interrupt of a system of which each is larger, until one was in time."""
    assert any(attempt(laplacian(size)) for size in (LARGE, LARGE + 10, LARGE + 20, LARGE + 30))


@pytest.mark.parametrize("step, phase", [("analyze", "ordering"), ("factorize", "factorization")])
def test_ctrl_c_ends_a_call_and_the_solver_remains_usable(step, phase):
    def attempt(A):
        interrupter = Interrupter(phase)
        solver = espalier.Solver(threads=1, progress=interrupter.on_progress)
        if step == "factorize":
            solver.analyze(A)
        if not interrupter.interrupts(lambda: getattr(solver, step)(A)):
            return False
        assert time.process_time() - interrupter.sent < 0.5
        A, b = laplacian(5), np.ones(125)
        np.testing.assert_allclose(A @ solver.analyze(A).factorize(A).solve(b), b, atol=1e-12)
        return True

    larger_and_larger(attempt)


def test_ctrl_c_reaches_a_call_that_waits_for_another_thread():
    def attempt(A):
        interrupter = Interrupter("factorization")
        solver = espalier.Solver(threads=1, progress=interrupter.on_progress).analyze(A)
        other = threading.Thread(target=solver.factorize, args=(A,))

        def wait_for_the_factorization():
            other.start()
            assert interrupter.begun.wait(60)
            solver.report

        is_interrupted = interrupter.interrupts(wait_for_the_factorization)
        is_still_factorized = other.is_alive()
        other.join()
        assert solver.inertia().positive == A.shape[0]
        return is_interrupted and is_still_factorized

    larger_and_larger(attempt)


def test_progress_is_reported_on_the_calling_thread():
    events = []
    solver = espalier.Solver(progress=lambda *event: events.append((*event, threading.get_ident())))
    solver.factorize(laplacian(20))
    phases = [phase for phase, _, _ in events]
    assert "ordering" in phases and "factorization" in phases
    assert {thread for _, _, thread in events} == {threading.get_ident()}
    fractions = [fraction for phase, fraction, _ in events if phase == "factorization"]
    assert fractions[-1] == 1.0 and fractions == sorted(fractions)
    assert all(fraction is None or 0 <= fraction <= 1 for _, fraction, _ in events)


def test_the_log_goes_to_a_function_or_a_logger(caplog):
    lines = []
    espalier.spsolve(laplacian(4), np.ones(64), log=lines.append)
    assert lines and all(isinstance(line, str) for line in lines)
    with caplog.at_level(logging.INFO, "espalier"):
        espalier.spsolve(laplacian(4), np.ones(64), log=True)
    assert [record.message for record in caplog.records] == lines


@pytest.mark.parametrize("which", ["progress", "log"])
def test_exceptions_of_callbacks_propagate(which):
    def fail(*_):
        raise ZeroDivisionError("by the caller")

    solver = espalier.Solver(**{which: fail})
    refuses(ZeroDivisionError, lambda: solver.factorize(laplacian(6)), "by the caller")


def test_a_solver_refuses_calls_from_its_own_callbacks():
    ready = False
    solver = espalier.Solver(log=lambda line: solver.report if ready else None).analyze(general())
    ready = True
    refuses(espalier.InputError, lambda: solver.analyze(general()), "its own")


@pytest.mark.parametrize("progress", [True, None])
def test_nothing_is_printed_outside_of_a_terminal(capfd, progress):
    espalier.spsolve(laplacian(6), np.ones(216), progress=progress)
    assert capfd.readouterr() == ("", "")


def test_the_bar_is_one_line_and_is_erased(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    espalier.Solver(progress=True).factorize(laplacian(6))
    shown = terminal.getvalue()
    assert "factorization" in shown and "[" in shown and "\n" not in shown and shown.endswith("\x1b[K")


def test_the_bar_in_a_notebook_needs_no_terminal(monkeypatch):
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    output = OutStream()
    monkeypatch.setattr("sys.stderr", output)
    espalier.Solver(progress=True).factorize(laplacian(6))
    shown = output.getvalue()
    assert "factorization" in shown and "\n" not in shown and "\x1b" not in shown
    assert shown.endswith("\r") and shown.split("\r")[-2].strip() == ""


def test_a_solver_in_a_reference_cycle_with_its_callback_is_collected():
    class Owner:
        def __init__(self):
            self.solver = espalier.Solver(log=self.on_log).factorize(laplacian(3))

        def on_log(self, line):
            pass

    owner = Owner()
    alive = weakref.ref(owner)
    del owner
    gc.collect()
    assert alive() is None


def test_results_belong_to_one_matrix_while_another_thread_sets_matrices_of_other_sizes():
    matrices = {A.shape[0]: A for A in (laplacian(k) for k in (2, 3, 4))}
    solver = espalier.Solver(supernodes="on").factorize(matrices[8])
    stop, failures = threading.Event(), []

    def change():
        try:
            while not stop.is_set():
                for kind, A in zip(("lu", "llh", "lu", "ldlt"), (*matrices.values(), matrices[8])):
                    solver.set_options(factorization=kind)
                    solver.analyze(A).factorize(A)
        except Exception as failure:
            failures.append(failure)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(200):
            try:
                L, D, U, p, q = solver.factors()
                inverse = solver.selected_inverse()
            except espalier.InputError:  # The other thread is between analyze and factorize.
                continue
            product = L @ (U if U is not None else L.T if D is None else D @ L.T)
            np.testing.assert_allclose(product.toarray(), matrices[len(p)].toarray()[p][:, q], atol=1e-12)
            assert inverse.nnz == matrices[inverse.shape[0]].nnz
            solver.copy()
    finally:
        stop.set()
        changer.join()
    assert not failures


@pytest.mark.parametrize("call", [
    "espalier.Solver(log=lambda line: None, progress=lambda *_: None).factorize(A).solve(b)",
    "espalier.spsolve(A, b)",
    "espalier.solve_batch(A, np.stack([A.data] * 8), np.stack([b] * 8))",
    "espalier.Solver(factorization='llh').factorize(-A)",
])
def test_the_interpreter_can_end_while_daemon_threads_call(call):
    program = f"""
import threading, time
import numpy as np
import espalier
from matrices import laplacian

A = laplacian(6)
b = np.ones(216)
started = threading.Semaphore(0)

def work():
    while True:
        try:
            {call}
        except espalier.NotPositiveDefiniteError:
            pass
        started.release()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
for _ in range(8):
    started.acquire()
"""
    for _ in range(3):
        done = subprocess.run((sys.executable, "-B", "-c", program), stderr=subprocess.PIPE, text=True, timeout=240,
                              env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        assert (done.returncode, done.stderr) == (0, "")


def test_a_forked_child_must_create_its_own_solver():
    A = laplacian(6)
    solver = espalier.Solver(threads=2).factorize(A)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                solver.solve(np.ones(216))
            except espalier.InputError:
                code = 2
            del solver
            x = espalier.spsolve(A, np.ones(216), threads=2)
            code = 0 if code == 2 and np.abs(A @ x - 1).max() < 1e-10 else 3
        finally:
            os._exit(code)
    deadline = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended[0] == child and os.waitstatus_to_exitcode(ended[1]) == 0
    np.testing.assert_allclose(A @ solver.solve(np.ones(216)), 1, atol=1e-12)
