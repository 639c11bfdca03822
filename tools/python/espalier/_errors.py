"""What the library's statuses are in Python. Each error is also what a Python program would expect there."""

from __future__ import annotations

import numpy as np


class EspalierError(Exception):
    """The base of all errors; `status` is the library's word for what happened, e.g. "singular"."""

    status: str

    def __init__(self, message: str, status: str = "internal") -> None:
        super().__init__(message)
        self.status = status


class InputError(EspalierError, ValueError):
    """A matrix, right-hand side or option that cannot be meant, or a call before the one it needs."""


class FileError(EspalierError, OSError):
    """A file (of an ordering or a machine) that cannot be read, or one (of a trace) that cannot be written."""


class SingularMatrixError(EspalierError, np.linalg.LinAlgError):
    """The matrix has no inverse: an empty row, a deficient structural rank, or a pivot that is zero."""


class NotPositiveDefiniteError(EspalierError, np.linalg.LinAlgError):
    """factorization="llh" met a pivot that is not positive."""


class OutOfMemoryError(EspalierError, MemoryError):
    """The factorization would need more than max_memory, or than the machine has."""


class UnsupportedError(EspalierError, NotImplementedError):
    """Understood, but this version cannot do it."""


class AccuracyWarning(UserWarning):
    """The backward error of a solution is above the tolerance."""


class SingularMatrixWarning(AccuracyWarning):
    """The matrix is singular to working precision: the solution may be any of many, or meaningless."""


_CLASSES: dict[str, type[EspalierError]] = {
    "usage": InputError,
    "bad_input": InputError,
    "io_error": FileError,
    "singular": SingularMatrixError,
    "not_positive_definite": NotPositiveDefiniteError,
    "out_of_memory": OutOfMemoryError,
    "unsupported": UnsupportedError,
}


def from_status(status: str, message: str) -> EspalierError:
    """The exception for an error of the library."""
    return _CLASSES.get(status, EspalierError)(message, status)
