"""A solver on several processes with distributed vectors: every process passes and receives its own rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _core
from ._arrays import Block, Symmetric, claim, dense, flag, operation, require_sparse, scalar_type, to_matrix
from ._errors import InputError
from ._options import set_options
from ._processes import close_at_exit, require_communicator
from ._solver import warn_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords

Result = TypeVar("Result")

_NO_LISTENERS: _core.Listeners = (None, None)


class DistributedSolver:
    """A sparse direct solver on all processes of `comm`, a communicator of mpi4py. Every process creates one and makes
    the same calls in the same order.

        solver = espalier.DistributedSolver(comm, ordering="scotch")
        solver.factorize(A if comm.Get_rank() == 0 else None)
        x = solver.solve(b)     # b and x: the rows of this process

    Process 0 passes the matrix. Each process passes consecutive rows of right-hand sides, beginning with those of
    process 0, and receives these rows of the solutions. No process holds whole vectors. symmetric and options are those
    of Solver; the values on process 0 are used. An error on one process is raised on all processes.
    """

    def __init__(self, comm: Any, *, symmetric: Symmetric = None, **options: Unpack[Keywords]) -> None:
        require_communicator(comm)
        self._comm = comm.Dup()
        self._symmetric = symmetric
        self._handle: _core.Solver | None = None
        self._dtype: np.dtype[Any] = np.dtype(np.float64)
        self._known: str | None = None  # the symmetry of the analyzed matrix
        self._factorized = False
        self._options = _core.Options()
        self._on_all(lambda: set_options(self._options, options))
        close_at_exit(self)

    def close(self) -> None:
        """Free the matrix and the factors. All processes call it. The solver cannot be used any more."""
        if self._comm is not None:
            self._handle = None
            self._comm.Free()
            self._comm = None

    def __enter__(self) -> DistributedSolver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_all(self, step: Callable[[], Result]) -> Result:
        """Returns step(). If it raises an error on one process, all processes raise an error."""
        if self._comm is None:
            raise InputError("this solver was closed", "usage")
        result: Result | None = None
        problem: Exception | None = None
        try:
            result = step()
        except Exception as error:
            problem = error
        messages = self._comm.allgather(None if problem is None else str(problem))
        if problem is not None:
            raise problem
        for rank, message in enumerate(messages):
            if message is not None:
                raise InputError(f"process {rank}: {message}", "usage")
        return result  # type: ignore[return-value]

    def factorize(self, A: Any = None) -> DistributedSolver:
        """Compute the factors of the matrix A of process 0; the other processes pass None. The analysis is reused for the
        same pattern, scalar type and symmetry. After any error there are no factors. Returns the solver."""
        self._factorized = False
        is_root = self._comm is not None and self._comm.Get_rank() == 0

        def convert() -> tuple[_core.Matrix | None, str]:
            if not is_root:
                return None, ""
            require_sparse(A)
            dtype = scalar_type(A.dtype)
            known = self._known if dtype == self._dtype else None
            return to_matrix(A, dtype, claim(self._symmetric, dtype) if known is None else known), dtype.char

        matrix, letter = self._on_all(convert)
        dtype = np.dtype(self._comm.bcast(letter, root=0))
        if matrix is None:
            matrix = to_matrix(sparse.csc_matrix((0, 0), dtype=dtype), dtype, "general")
        if self._handle is None or dtype != self._dtype:
            self._handle = self._known = None
            self._handle = _core.Solver(dtype.char, self._options, self._comm.py2f())
            self._dtype = dtype
        if not self._comm.bcast(self._handle.is_analyzed(matrix), root=0):
            self._handle.analyze(matrix, _NO_LISTENERS)
        self._handle.factorize(matrix, _NO_LISTENERS)
        self._known = matrix.symmetry
        self._factorized = True
        return self

    def solve(self, b: Any, trans: str = "N", *, refine: bool = True) -> npt.NDArray[Any]:
        """Solve A x = b, with trans = "T" A^T x = b, or with trans = "H" A^H x = b. b and the result are the rows of this
        process, of shape (m,) or (m, k). The solution is refined and checked as by Solver.solve()."""
        refines = self._on_all(lambda: flag("refine", refine))
        handle, (block,), op = self._prepare((b,), trans)
        x = block.copy()
        warn_of(handle.solve(block.values, x, op, refines, True, _NO_LISTENERS), 2)
        return block.restore(x)

    def refine(self, b: Any, x: Any, trans: str = "N") -> npt.NDArray[Any]:
        """Improve a given solution x for b. Both are the rows of this process. Returns a new array."""
        handle, (block, start), op = self._prepare((b, x), trans)
        improved = start.copy()
        warn_of(handle.refine(block.values, improved, op, True, _NO_LISTENERS), 2)
        return block.restore(improved)

    def _prepare(self, arrays: tuple[Any, ...], trans: str) -> tuple[_core.Solver, list[Block], str]:
        def check() -> tuple[_core.Solver, list[npt.NDArray[Any]], str]:
            if self._handle is None or not self._factorized:
                raise InputError("solve was called before factorize", "usage")
            given = [dense(array) for array in arrays]
            if any(array.shape != given[0].shape for array in given):
                raise ValueError(f"b has shape {given[0].shape} and x {given[-1].shape}; they must be the same")
            return self._handle, given, operation(trans)

        handle, given, op = self._on_all(check)
        is_complex = any(self._comm.allgather(any(array.dtype.kind == "c" for array in given)))
        if is_complex:
            given = [array.astype(complex) for array in given]
        return handle, self._on_all(lambda: [Block(array, array.shape[0], self._dtype) for array in given]), op

    @property
    def report(self) -> dict[str, Any]:
        """Results of the last calls, as in Solver.report, equal on all processes."""
        if self._handle is None:
            raise InputError("report was called before factorize", "usage")
        return self._handle.report()
