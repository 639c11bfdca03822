"""Conversion of scipy matrices and numpy arrays to the types of the extension module, and back. Arrays of the caller
are not modified, and are copied only if necessary."""

from __future__ import annotations

import operator
from typing import Any, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _core
from ._errors import InputError

# Values of the argument `symmetric` of Solver.
Symmetric = Union[None, bool, str]

_MATRIX = {
    np.dtype(np.float32): _core.MatrixS,
    np.dtype(np.float64): _core.MatrixD,
    np.dtype(np.complex64): _core.MatrixC,
    np.dtype(np.complex128): _core.MatrixZ,
}

_OPERATION = {"N": "none", "T": "transpose", "H": "adjoint"}


def operation(trans: str) -> str:
    if not isinstance(trans, str) or trans not in _OPERATION:
        raise ValueError(f"trans = {trans!r}; it is 'N' (A x = b), 'T' (A^T x = b) or 'H' (A^H x = b)")
    return _OPERATION[trans]


def scalar_type(*types: npt.DTypeLike) -> np.dtype[Any]:
    """The type of the computation: the one of float32, float64, complex64 and complex128 that holds all of `types`.
    Other types give float64 or complex128. Raises TypeError for types that are not numeric."""
    if len(types) == 1 and types[0] in _MATRIX:
        return types[0]  # type: ignore[return-value]
    together = np.result_type(*types)
    if together in _MATRIX:
        return together
    if together.kind not in "biufc":
        raise TypeError(f"entries of type {together} are not supported; convert them to a numeric type")
    return np.dtype(np.complex128 if together.kind == "c" else np.float64)


def claim(symmetric: Symmetric, dtype: np.dtype[Any]) -> str:
    """The symmetry that the argument `symmetric` claims. Raises ValueError for an invalid value."""
    if symmetric is None:
        return "unknown"
    if isinstance(symmetric, np.bool_):
        symmetric = bool(symmetric)
    if symmetric is False or symmetric == "general":
        return "general"
    if symmetric == "hermitian":
        return "hermitian"
    if symmetric == "symmetric" or (symmetric is True and dtype.kind != "c"):
        return "symmetric"
    if symmetric is True:
        raise ValueError("symmetric = True is ambiguous for a complex matrix; use 'symmetric' or 'hermitian'")
    raise ValueError(f"symmetric = {symmetric!r}; it is None, True, False, 'general', 'symmetric' or 'hermitian'")


def flag(name: str, value: Any) -> bool:
    """The value of the argument `name`, which is True or False."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} = {value!r}; it must be True or False")


def count(name: str, value: Any, least: int) -> int:
    """The value of the argument `name`, which is an integer from `least` on."""
    most = 2**31 - 1
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}; it must be an integer") from None
    if not least <= number <= most:
        raise InputError(f"{name} = {number}; it must be between {least} and {most}", "usage")
    return number


def text(name: str, value: Any) -> str:
    """The value of the argument `name`, which is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r}; it must be a string")
    return value


def require_sparse(A: Any) -> None:
    is_sparse: bool = sparse.issparse(A)  # not in the condition, so that A keeps its type
    if not is_sparse:
        raise TypeError(
            f"the matrix must be of scipy.sparse, not {type(A).__name__}; convert it with scipy.sparse.csc_matrix"
        )
    if len(A.shape) != 2:
        raise ValueError(f"the matrix must have two dimensions, not {len(A.shape)}")


def to_matrix(A: Any, dtype: np.dtype[Any], claimed: str) -> _core.Matrix:
    """Converts a scipy matrix to the library's form. It may have any index type, unsorted entries and duplicates."""
    if A.format not in ("csc", "csr", "coo"):
        A = A.tocsc()
    rows, cols = A.shape
    if A.format != "coo" and len(A.indptr) and A.indptr[-1] == len(A.indices) == len(A.data):
        try:  # Arrays of suitable types need no conversion, which would take longer than small systems.
            return _MATRIX[dtype](A.format, rows, cols, A.indptr, A.indices, A.data, claimed)
        except TypeError:
            pass
    if A.format == "coo":
        pointers, indices, values = A.row, A.col, A.data
    else:
        pointers, (indices, values) = A.indptr, _used(A)
    both = (pointers, indices)
    kind = np.int32 if all(array.dtype == np.int32 for array in both) else np.int64
    return _MATRIX[dtype](
        A.format,
        rows,
        cols,
        np.ascontiguousarray(pointers, dtype=kind),
        np.ascontiguousarray(indices, dtype=kind),
        np.ascontiguousarray(values, dtype=dtype),
        claimed,
    )


def _used(A: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Indices and values of a CSC or CSR matrix, without the unused elements that scipy allows after the last entry."""
    end = int(A.indptr[-1]) if len(A.indptr) else 0
    return A.indices[:end], A.data[:end]


def to_coordinates(A: Any) -> Any:
    """The matrix in COO format, with its entries in the same order. The conversion of scipy refuses unused elements."""
    if A.format in ("csc", "csr"):
        indices, values = _used(A)
        A = type(A)((values, indices, A.indptr), shape=A.shape)
    return A.tocoo()


def to_columns(W: Any, rows: int, dtype: np.dtype[Any]) -> _core.Matrix:
    """Converts columns of a matrix, sparse or dense, or a vector to a sparse matrix of the library."""
    columns: Any = W if sparse.issparse(W) else np.asarray(W)
    shape = columns.shape
    if len(shape) not in (1, 2) or shape[0] != rows:
        raise ValueError(f"W has shape {shape}; it must be ({rows},) or ({rows}, k)")
    if scalar_type(columns.dtype).kind == "c" and dtype.kind != "c":
        raise ValueError("W is complex, and the matrix is real")
    if not sparse.issparse(columns):
        columns = sparse.csc_matrix(columns[:, np.newaxis] if len(shape) == 1 else columns)
    return to_named_matrix("W", columns, dtype)


def to_named_matrix(name: str, A: Any, dtype: np.dtype[Any]) -> _core.Matrix:
    """to_matrix() of an argument other than the matrix of the system. Errors name it."""
    try:
        return to_matrix(A, dtype, "general")
    except InputError as error:
        raise InputError(f"{name}: {error}", error.status) from None


def dense(b: Any) -> npt.NDArray[Any]:
    """b, which may be sparse, as an array."""
    array: npt.NDArray[Any] = b.toarray() if sparse.issparse(b) else np.asarray(b)
    return array


def right_hand_side(b: Any, rows: int, what: str = "b") -> npt.NDArray[Any]:
    """b as an array, whose shape is checked; a sparse b becomes dense."""
    array = dense(b)
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise ValueError(f"{what} has shape {array.shape}; it must be ({rows},) or ({rows}, k)")
    scalar_type(array.dtype)
    return array


def _as_columns(columns: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if columns.dtype == dtype and columns.flags.f_contiguous:
        return columns
    with np.errstate(over="ignore"):  # Values that overflow become infinite, and the caller refuses them.
        return np.asarray(columns, dtype=dtype, order="F")


class Block:
    """Right-hand sides as columns of the scalar type of a solver, and the conversion back to the caller's shape. A
    complex right-hand side of a real solver becomes two real ones."""

    def __init__(self, b: Any, rows: int, dtype: np.dtype[Any], what: str = "b") -> None:
        array = right_hand_side(b, rows, what)
        kind = scalar_type(array.dtype)
        self.shape = array.shape
        self.is_split = kind.kind == "c" and dtype.kind != "c"
        columns = array[:, np.newaxis] if array.ndim == 1 else array
        if self.is_split:
            columns = np.hstack([columns.real, columns.imag])
        self.values: npt.NDArray[Any] = _as_columns(columns, dtype)
        flat = self.values.ravel("F")
        if not np.isfinite(np.vdot(flat, flat)):  # The square of a finite number may overflow.
            finite = np.isfinite(self.values)
            if not finite.all():
                row, column = (int(place) for place in np.argwhere(~finite)[0])
                column %= array[:1].size  # imaginary parts follow the real parts
                value = array[row] if array.ndim == 1 else array[row, column]
                why = f", which overflows in {dtype}" if np.isfinite(value) else ""
                raise ValueError(f"{what} has {value} in row {row} of column {column}{why}")

    def copy(self) -> npt.NDArray[Any]:
        return self.values.copy(order="F")

    def restore(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Converts solution columns to the caller's shape and kind (real or complex)."""
        if self.is_split:
            x = join_parts(x)
        return x[:, 0] if len(self.shape) == 1 else x


def join_parts(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Complex columns from their real parts, followed by their imaginary parts."""
    half = x.shape[1] // 2
    joined: npt.NDArray[Any] = np.empty((x.shape[0], half), np.result_type(x.dtype, np.complex64), order="F")
    joined.real, joined.imag = x[:, :half], x[:, half:]  # 1j * x would turn infinite parts into NaN
    return joined
