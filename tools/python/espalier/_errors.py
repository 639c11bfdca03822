"""Exceptions and warnings for the statuses of the library. Each error also derives from a standard exception."""

from __future__ import annotations

import re

import numpy as np


class EspalierError(Exception):
    """The base of all errors. `status` is the name of the status in the library, for example "singular"."""

    status: str

    def __init__(self, message: str, status: str = "internal") -> None:
        super().__init__(message)
        self.status = status


class InputError(EspalierError, ValueError):
    """An invalid matrix, right-hand side or option, or a call in the wrong order."""


class FileError(EspalierError, OSError):
    """An ordering or machine file that cannot be read, or a trace that cannot be written."""


class SingularMatrixError(EspalierError, np.linalg.LinAlgError):
    """The matrix has no inverse: an empty row, a deficient structural rank, or a pivot that is zero."""


class NotPositiveDefiniteError(EspalierError, np.linalg.LinAlgError):
    """A pivot is not positive with factorization="llh"."""


class OutOfMemoryError(EspalierError, MemoryError):
    """A call needs more memory than max_memory or the machine allows."""


class UnsupportedError(EspalierError, NotImplementedError):
    """A valid request that this version does not support."""


class AccuracyWarning(UserWarning):
    """The backward error of a solution is above the tolerance, or entries of the inverse are inaccurate."""


class SingularMatrixWarning(AccuracyWarning):
    """The matrix is singular to working precision. The solution is one of many, or meaningless."""


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
    """Creates the exception for an error of the library, whose rows and columns count from 0."""
    if "(counted from 1)" in message:
        message = re.sub(r"\b((?:row|column) )(\d+)", lambda found: f"{found[1]}{int(found[2]) - 1}", message)
        message = message.replace("(counted from 1)", "(counted from 0)")
    return _CLASSES.get(status, EspalierError)(message, status)
