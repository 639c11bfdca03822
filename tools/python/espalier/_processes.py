"""Solvers of several processes: process 0 leads, the others follow. Communicators are those of mpi4py, of which only
methods are used."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

import numpy as np

from . import _core
from ._errors import EspalierError, InputError

_SOLVER: dict[np.dtype[Any], type[_core.Solver]] = {
    np.dtype(np.float32): _core.SolverS,
    np.dtype(np.float64): _core.SolverD,
    np.dtype(np.complex64): _core.SolverC,
    np.dtype(np.complex128): _core.SolverZ,
}


class Lead:
    """What process 0 has of the others. They follow one handle at a time."""

    def __init__(self, comm: Any) -> None:
        if comm.Get_rank() != 0:
            raise InputError("only process 0 of a communicator has a Solver; the others call espalier.follow", "usage")
        self._comm = comm.Dup()
        self._open = True

    def handle(self, dtype: np.dtype[Any], options: _core.Options) -> _core.Solver:
        """A solver of all processes; the one before must be gone."""
        if not self._open:
            raise InputError("this solver was closed", "usage")
        self._comm.bcast(dtype.char, root=0)
        return _SOLVER[dtype](options, self._comm.py2f())

    def dismiss(self) -> None:
        """The others return from follow(); the last handle must be gone."""
        if self._open:
            self._open = False
            self._comm.bcast(None, root=0)
            self._comm.Free()


class Alone:
    """One process."""

    def handle(self, dtype: np.dtype[Any], options: _core.Options) -> _core.Solver:
        return _SOLVER[dtype](options)

    def dismiss(self) -> None:
        pass


#: Those of several processes.
_solvers: weakref.WeakSet[Any] = weakref.WeakSet()


def close_at_exit(solver: Any) -> None:
    """Before mpi4py finalises MPI, which it has registered earlier."""
    if not _solvers:
        atexit.register(_close_all)
    _solvers.add(solver)


def _close_all() -> None:
    for solver in list(_solvers):
        solver.close()


def follow(comm: Any) -> None:
    """On every process of `comm` (an mpi4py communicator) but process 0: work for the Solver(comm=...) that process 0
    makes there, until it is closed."""
    if comm.Get_rank() == 0:
        raise InputError("process 0 leads, it cannot follow: it makes a Solver(comm=...)", "usage")
    own = comm.Dup()
    while (letter := own.bcast(None, root=0)) is not None:
        try:
            _SOLVER[np.dtype(letter)].follow(own.py2f())
        except EspalierError:
            pass  # process 0 has it, too
    own.Free()
