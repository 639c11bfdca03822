"""Solvers on several processes. Process 0 calls the methods of a Solver, and the other processes follow. Communicators
are those of mpi4py; only their methods are used."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

import numpy as np

from . import _core
from ._errors import EspalierError, InputError


def require_communicator(comm: Any) -> None:
    if not all(hasattr(comm, name) for name in ("Get_rank", "Dup", "py2f")):
        raise TypeError(f"comm = {comm!r}; it must be a communicator of mpi4py")


class RootProcess:
    """Process 0 of several. The other processes follow one handle at a time."""

    def __init__(self, comm: Any) -> None:
        require_communicator(comm)
        if comm.Get_rank() != 0:
            raise InputError("Solver(comm=...) needs process 0; the other processes call espalier.follow", "usage")
        self._comm = comm.Dup()
        self._open = True

    def handle(self, dtype: np.dtype[Any], options: _core.Options) -> _core.Solver:
        """Creates a solver on all processes. The one before must have been destroyed."""
        if not self._open:
            raise InputError("this solver was closed", "usage")
        self._comm.bcast(dtype.char, root=0)
        return _core.Solver(dtype.char, options, self._comm.py2f())

    def release(self) -> None:
        """Ends follow() on the other processes. The last handle must have been destroyed."""
        if self._open:
            self._open = False
            self._comm.bcast(None, root=0)
            self._comm.Free()


#: The solvers on several processes.
_solvers: weakref.WeakSet[Any] = weakref.WeakSet()


def close_at_exit(solver: Any) -> None:
    """Closes the solver before mpi4py finalizes MPI: exit functions run in reverse order of their registration."""
    if not _solvers:
        atexit.register(_close_all)
    _solvers.add(solver)


def _close_all() -> None:
    for solver in list(_solvers):
        solver.close()


def follow(comm: Any) -> None:
    """Take part in the calls of the Solver(comm=...) of process 0 until that is closed. All processes of `comm`, an
    mpi4py communicator, except process 0 call this function."""
    require_communicator(comm)
    if comm.Get_rank() == 0:
        raise InputError("process 0 cannot follow; it creates a Solver(comm=...)", "usage")
    own = comm.Dup()
    while (letter := own.bcast(None, root=0)) is not None:
        try:
            _core.Solver.follow(letter, own.py2f())
        except EspalierError:
            pass  # Process 0 raises it.
    own.Free()
