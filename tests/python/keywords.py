"""Prints espalier/_keywords.py, made from the table of options in the extension module. tests/python holds the file to it:

PYTHONPATH=build/release/python python3 tests/python/keywords.py > tools/python/espalier/_keywords.py
"""

import textwrap

from espalier import _core

HEAD = '''"""The options as keywords of Solver, spsolve and factorized. Made by tests/python/keywords.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy.typing as npt


class Keywords(TypedDict, total=False):
    """Types of the keywords. None keeps the default."""
'''

TAIL = '''
    #: unknowns that are not eliminated, counted from 0: the solver computes their Schur complement
    schur: Sequence[int] | npt.NDArray[Any] | None
'''

TYPES = {"flag": "bool", "count": "int", "size": "int | str", "real": "float", "text": "str | os.PathLike[str]"}


def hint(row):
    if row["type"] == "choice":
        return "Literal[" + ", ".join(f'"{choice}"' for choice in row["choices"]) + "]"
    unset = f' | Literal["{row["unset"]}"]' if row["unset"] and row["type"] != "size" else ""
    return TYPES[row["type"]] + unset


def keywords():
    text = HEAD
    for row in _core.option_table():
        text += "\n" + textwrap.fill(row["description"], 110, initial_indent="    #: ", subsequent_indent="    #: ",
                                     break_on_hyphens=False)
        text += f'\n    {row["name"].replace("-", "_")}: {hint(row)} | None\n'
    return text + TAIL


if __name__ == "__main__":
    print(keywords(), end="")
