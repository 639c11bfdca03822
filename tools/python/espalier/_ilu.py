"""Incomplete factorizations as preconditioners of the iterative methods of scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from ._arrays import Symmetric
from ._progress import Log, Progress
from ._solver import Solver

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import IluKeywords


class IncompleteInverse(LinearOperator):
    """The inverse of the product of incomplete factors, which ilu() returns. It has the shape and the scalar type of the
    matrix; matvec, matmat, rmatvec and rmatmat apply it or its adjoint."""

    #: The Solver with the factors. Its solve() iterates, and its factorize() takes new values on the same pattern.
    solver: Solver

    def __init__(self, solver: Solver) -> None:
        assert solver.dtype is not None and solver.shape is not None
        super().__init__(solver.dtype, solver.shape)  # type: ignore[call-arg,unused-ignore]
        self.solver = solver

    def solve(self, b: Any, trans: str = "N") -> npt.NDArray[Any]:
        """Apply the inverse to b, or with trans = "T" or "H" its transpose or adjoint: the name of scipy's spilu objects."""
        return self.solver.solve(b, trans, refine=False)

    def _matvec(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self.solver.solve(x, refine=False)

    def _rmatvec(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self.solver.solve(x, "H", refine=False)

    _matmat = _matvec
    _rmatmat = _rmatvec


def ilu(
    A: Any,
    levels: int = 0,
    *,
    symmetric: Symmetric = None,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[IluKeywords],
) -> IncompleteInverse:
    """Compute an incomplete factorization ILU(k) of A, or IC(k) if A may be positive definite, with k = levels.

    Returns its inverse as a preconditioner: scipy.sparse.linalg.gmres(A, b, M=espalier.ilu(A)). The keywords are those
    of Solver; block_size, ordering, coarsen and runtime concern incomplete factorizations.
    """
    solver = Solver(
        symmetric=symmetric, progress=progress, log=log, method="ilu", levels=levels, **options
    ).factorize(A)
    return IncompleteInverse(solver)
