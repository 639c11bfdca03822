"""The functions spsolve and factorized, like those of scipy.sparse.linalg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import Symmetric, require_sparse, scalar_type
from ._progress import Log, Progress
from ._scipy_keywords import ordering_of
from ._solver import Solver, warn_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords


class SolveFunction(Protocol):
    """The result of factorized(): the method Solver.solve() of one solver."""

    def __call__(self, b: Any, trans: str = "N", *, refine: bool = True) -> npt.NDArray[Any]: ...


# spsolve() and factorized() treat matrices with at most so many entries as general: symmetric factors are stored in
# dense blocks, which cost more than they save. Options that may concern the factorization prevent this.
_MOST_ENTRIES_AS_GENERAL = 30_000
_OPTIONS_OF_ANY_FACTORIZATION = {"threads", "refine", "max_refine_iterations", "tolerance"}


def spsolve(
    A: Any,
    b: Any,
    permc_spec: str | None = None,
    use_umfpack: bool = True,
    *,
    symmetric: Symmetric = None,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> npt.NDArray[Any]:
    """Solve A x = b.

    A is an n x n matrix or array of scipy.sparse. b is an array of shape (n,) or (n, k), or an n x k scipy.sparse
    matrix. Returns an array with the shape of b, in the precision that holds the entries of both. The keywords are
    those of Solver; permc_spec is that of splu(), and use_umfpack, another argument of scipy, has no effect. The solution
    is refined according to the option `refine`. A backward error above the option `tolerance` gives an AccuracyWarning. With
    symmetric=None, a matrix with at most 30,000 entries is treated as general, because a factorization by single columns
    is then the fastest.
    """
    require_sparse(A)
    chosen = ordering_of(permc_spec)
    if chosen is not None:
        options.setdefault("ordering", chosen)
    if symmetric is None and not options and progress is None and log is None:
        x = _solve_small(A, b)
        if x is not None:
            return x
    solver = Solver(symmetric=_treated_as(symmetric, A, options), progress=progress, log=log, **options)
    other = b.dtype if hasattr(b, "dtype") else np.asarray(b).dtype
    precision = scalar_type(scalar_type(A.dtype), scalar_type(other))
    # With a real A, a complex b is solved as two real right-hand sides.
    kind = scalar_type(A.dtype).kind
    dtype = precision if precision.kind == kind else precision.type(0).real.dtype
    solver._factorize(A, dtype)
    return solver._solve(b, "N", refine=True, stacklevel=3)


def _treated_as(symmetric: Symmetric, A: Any, options: Mapping[str, Any]) -> Symmetric:
    if len(getattr(A, "indptr", "none")) == 0:
        return symmetric  # The factorization refuses the matrix.
    is_small = A.nnz <= _MOST_ENTRIES_AS_GENERAL
    return False if symmetric is None and is_small and options.keys() <= _OPTIONS_OF_ANY_FACTORIZATION else symmetric


_SOLVE_ONCE = {
    np.dtype(np.float32): _core.solve_onceS,
    np.dtype(np.float64): _core.solve_onceD,
    np.dtype(np.complex64): _core.solve_onceC,
    np.dtype(np.complex128): _core.solve_onceZ,
}


def _solve_small(A: Any, b: Any) -> npt.NDArray[Any] | None:
    """Solves a small system in one call of the extension module. Returns None for systems that are not small, or whose
    arrays are not as this call takes them."""
    if type(b) is not np.ndarray or b.dtype != A.dtype or b.dtype not in _SOLVE_ONCE or A.format not in ("csc", "csr"):
        return None
    indptr, indices, data = A.indptr, A.indices, A.data
    if not 0 < len(data) <= _MOST_ENTRIES_AS_GENERAL or not len(indptr):
        return None
    if not len(data) == len(indices) == indptr[-1]:
        return None
    rows, cols = A.shape
    try:
        found = _SOLVE_ONCE[b.dtype](A.format, rows, cols, indptr, indices, data, b)
    except TypeError:  # The arrays have other types or strides.
        return None
    if found is None:
        return None
    x, verdict = found
    warn_of(verdict, 3)
    return x


def factorized(
    A: Any,
    *,
    symmetric: Symmetric = None,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> SolveFunction:
    """Factorize A and return a function that solves A x = b: the method `solve` of a new Solver, available as its
    `__self__`. The keywords are those of Solver. With symmetric=None, small matrices are treated as general, as by
    spsolve()."""
    require_sparse(A)
    solver = Solver(symmetric=_treated_as(symmetric, A, options), progress=progress, log=log, **options)
    solver.factorize(A)
    return solver.solve
