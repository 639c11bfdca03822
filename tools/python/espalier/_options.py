"""Options of the library from Python keywords: ordering="metis", max_memory="4G", mixed_precision=True."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core

_NAMES: list[str] = [row["name"] for row in _core.option_table()]


def _spelled(name: str, value: Any) -> str:
    """A value as the espalier command spells it."""
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, str):
        return value
    raise TypeError(f"option {name}: {type(value).__name__} is not a type of value; give a string, number or bool")


def _unknowns(value: Any) -> list[int]:
    """The unknowns of the Schur complement, as a list."""
    unknowns = np.asarray(value)
    if unknowns.size == 0:
        return []
    if unknowns.ndim != 1 or unknowns.dtype.kind not in "iu":
        raise TypeError("option schur: give a sequence of integers, the unknowns counted from 0")
    return [int(unknown) for unknown in unknowns]


def set_options(options: _core.Options, settings: Mapping[str, Any]) -> None:
    """Apply keywords; None leaves an option as it is. TypeError for an unknown name or a value of a type that no
    option has; InputError (a ValueError) for a value that the option does not have."""
    for keyword, value in settings.items():
        name = keyword.replace("_", "-")
        if keyword == "schur":
            if value is not None:
                options.schur = _unknowns(value)
        elif "-" in keyword or name not in _NAMES:
            raise TypeError(f"there is no option '{keyword}'; there are {', '.join(_keywords())}")
        elif value is not None:
            options.set(name, _spelled(keyword, value))


def get_options(options: _core.Options) -> dict[str, str]:
    """The values by keyword, in the command's spelling; `schur`, which has none, is left out."""
    return {keyword: options.get(keyword.replace("_", "-")) for keyword in _keywords() if keyword != "schur"}


def default_options() -> dict[str, str]:
    """What can be given as keywords to Solver, spsolve and factorized, and the defaults."""
    return get_options(_core.Options())


def _keywords() -> list[str]:
    return [*(name.replace("-", "_") for name in _NAMES), "schur"]
