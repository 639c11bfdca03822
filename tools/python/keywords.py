"""Prints the module espalier._keywords, which has the types of the options, from the table of the extension module in
the folder that is given. The build runs it."""

import sys
import textwrap

sys.path.insert(0, sys.argv[1])
import _core  # noqa: E402

HEAD = '''"""The options as keywords of Solver, spsolve and factorized. Made by tools/python/keywords.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy.typing as npt


class IluKeywords(TypedDict, total=False):
    """Types of the keywords of ilu(), which has the others as arguments. None keeps the default."""
'''

TAIL = '''
    #: unknowns that are not eliminated, counted from 0: the solver computes their Schur complement
    schur: Sequence[int] | npt.NDArray[Any] | None


class Keywords(IluKeywords, total=False):
    """Types of all keywords. None keeps the default."""
'''

ARGUMENTS_OF_ILU = ("method", "levels")

TYPES = {"flag": "bool", "count": "int", "size": "int | str", "real": "float", "text": "str | os.PathLike[str]"}


def hint(row):
    if row["type"] == "choice":
        return "Literal[" + ", ".join(f'"{choice}"' for choice in row["choices"]) + "]"
    unset = f' | Literal["{row["unset"]}"]' if row["unset"] and row["type"] != "size" else ""
    return TYPES[row["type"]] + unset


def described(row):
    comment = textwrap.fill(row["description"], 110, initial_indent="    #: ", subsequent_indent="    #: ",
                            break_on_hyphens=False)
    return f'\n{comment}\n    {row["name"].replace("-", "_")}: {hint(row)} | None\n'


def keywords():
    rows = {row["name"]: row for row in _core.option_table()}
    own = [described(rows.pop(name)) for name in ARGUMENTS_OF_ILU]
    return HEAD + "".join(map(described, rows.values())) + TAIL + "".join(own)


print(keywords(), end="")
