"""Batches: many small systems whose matrices have one pattern."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _core
from ._arrays import Symmetric, claim, require_sparse, scalar_type, to_coordinates, to_matrix
from ._errors import AccuracyWarning
from ._options import set_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords

_SOLVE = {
    np.dtype(np.float32): _core.solve_batchS,
    np.dtype(np.float64): _core.solve_batchD,
    np.dtype(np.complex64): _core.solve_batchC,
    np.dtype(np.complex128): _core.solve_batchZ,
}


def solve_batch(
    A: Any, values: Any, b: Any, *, symmetric: Symmetric = False, **options: Unpack[Keywords]
) -> npt.NDArray[Any]:
    """Solve A_k x_k = b_k for many small systems at once, across threads.

    A is a matrix of scipy.sparse in CSC, CSR or COO format without duplicates, which gives the pattern. values has shape
    (systems, A.nnz): the entries of each matrix in the order of A.data. b has shape (systems, n) or (systems, n, k). The
    result has the shape of b. With symmetric=True, "symmetric" or "hermitian" only the lower triangle is used. Every
    solution is refined and checked. A system that is singular gives NaN and an AccuracyWarning. The others
    are not affected.
    """
    require_sparse(A)
    if A.format not in ("csc", "csr", "coo") or A.shape[0] != A.shape[1]:
        raise ValueError(f"A is a {A.format} matrix of shape {A.shape}; it must be a square csc, csr or coo matrix")
    if A.format != "coo" and len(A.indptr) != A.shape[0] + 1:
        raise ValueError(f"A.indptr has {len(A.indptr)} elements; a matrix of shape {A.shape} needs {A.shape[0] + 1}")
    n = A.shape[0]
    values, b = np.asarray(values), np.asarray(b)
    if values.ndim != 2 or values.shape[1] != A.nnz:
        raise ValueError(f"values has shape {values.shape}; it must be (systems, {A.nnz})")
    if b.ndim not in (2, 3) or b.shape[:2] != (len(values), n):
        raise ValueError(f"b has shape {b.shape}; it must be ({len(values)}, {n}) or ({len(values)}, {n}, k)")
    dtype = scalar_type(values.dtype, b.dtype)
    claimed = claim(symmetric, dtype)
    pattern, order = _pattern(A, claimed != "general", dtype)
    settings = _core.Options()
    set_options(settings, options)
    if b.size == 0:
        return np.empty(b.shape, dtype)
    columns = np.moveaxis(b, 2, 1) if b.ndim == 3 else b[:, np.newaxis]
    x, status, _ = _SOLVE[dtype](
        to_matrix(pattern, dtype, claimed),
        np.ascontiguousarray(values[:, order], dtype=dtype),
        np.ascontiguousarray(columns, dtype=dtype),
        settings,
    )
    failed = [k for k, one in enumerate(status) if one != "ok"]
    if failed:
        first = f"the first is {failed[0]}: {status[failed[0]]}"
        message = f"{len(failed)} of {len(status)} systems have no accurate solution; {first}"
        warnings.warn(message, AccuracyWarning, stacklevel=2)
    return np.moveaxis(x, 1, 2) if b.ndim == 3 else x[:, 0]


def _pattern(A: Any, lower: bool, dtype: np.dtype[Any]) -> tuple[Any, npt.NDArray[Any]]:
    """The pattern, or its lower triangle, as a CSC matrix of ones, and the place in A.data of each of its entries."""
    entries = to_coordinates(A)
    rows, columns = np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)
    chosen = np.flatnonzero(rows >= columns) if lower else np.arange(len(rows))
    order = chosen[np.lexsort((rows[chosen], columns[chosen]))]
    if np.any((np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)):
        raise ValueError("A has several entries at one position; sum them first")
    starts = np.searchsorted(columns[order], np.arange(A.shape[0] + 1))
    return sparse.csc_matrix((np.ones(len(order), dtype), rows[order], starts), shape=A.shape), order
