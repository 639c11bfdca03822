"""Conversion of Python keywords to options: ordering="metis", max_memory="4G", mixed_precision=True."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._errors import EspalierError, InputError

_NAMES: list[str] = [row["name"] for row in _core.option_table()]
_NAME_OF = {name.replace("-", "_"): name for name in _NAMES}


def _spelled(name: str, value: Any) -> str:
    """Converts a value to the spelling of the espalier command."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    raise TypeError(f"option {name} is of type {type(value).__name__}; it must be a string, number or bool")


def _unknowns(value: Any) -> list[int]:
    """Converts the unknowns of the Schur complement to a list."""
    unknowns = np.asarray(value)
    if unknowns.size == 0:
        return []
    if unknowns.ndim != 1 or unknowns.dtype.kind not in "iu":
        raise TypeError("option schur must be a sequence of integers, the unknowns counted from 0")
    largest = int(unknowns.max())  # numpy 1 compares large integers as floating-point numbers
    if largest > np.iinfo(np.int64).max:
        raise InputError(f"option schur contains {largest}, which is larger than any matrix", "usage")
    return [int(unknown) for unknown in unknowns]


def set_options(options: _core.Options, settings: Mapping[str, Any]) -> None:
    """Applies keywords; None leaves an option unchanged. Raises TypeError for an unknown name or an unsupported type,
    and InputError (a ValueError) for an invalid value."""
    for keyword, value in settings.items():
        name = _NAME_OF.get(keyword)
        if keyword == "schur":
            if value is not None:
                options.schur = _unknowns(value)
        elif name is None:
            near = difflib.get_close_matches(keyword.replace("-", "_"), _keywords(), 1)
            hint = f"did you mean '{near[0]}'?" if near else f"the options are {', '.join(_keywords())}"
            raise TypeError(f"unknown option '{keyword}'; {hint}")
        elif value is not None:
            is_default = keyword == "threads" and not isinstance(value, str) and value == 0  # as in other packages
            _set(options, keyword, "auto" if is_default else _spelled(keyword, value))


def _set(options: _core.Options, keyword: str, value: str) -> None:
    """Sets an option. Messages of the library begin with the name of the option, which becomes the keyword."""
    name = _NAME_OF[keyword]
    try:
        options.set(name, value)
    except EspalierError as error:
        message = str(error)
        if keyword == name or not message.startswith(name):
            raise
        raise type(error)(keyword + message[len(name) :], error.status) from None


def get_options(options: _core.Options) -> dict[str, str]:
    """The values by keyword, in the spelling of the command, without `schur`."""
    return {keyword: options.get(_NAME_OF[keyword]) for keyword in _keywords() if keyword != "schur"}


def default_options() -> dict[str, str]:
    """The option keywords of Solver, spsolve and factorized, with their default values."""
    return get_options(_core.Options())


def _keywords() -> list[str]:
    return [*_NAME_OF, "schur"]
