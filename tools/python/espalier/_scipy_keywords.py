"""Arguments of functions of scipy.sparse.linalg, as options of Espalier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ORDERINGS = {"NATURAL": "natural", "MMD_ATA": "amd", "MMD_AT_PLUS_A": "amd", "COLAMD": None}

# The options of SuperLU that scipy accepts, in lower case.
_SUPERLU = {
    *("fact", "equil", "colperm", "trans", "iterrefine", "diagpivotthresh", "pivotgrowth", "conditionnumber"),
    *("rowperm", "symmetricmode", "printstat", "replacetinypivot", "solveinitialized", "refineinitialized"),
    *("ilu_norm", "ilu_milu", "ilu_droptol", "ilu_fillfactor", "ilu_droprule", "parsymbfact", "panelsize", "relax"),
}


def ordering_of(permc_spec: str | None, options: Mapping[str, Any] | None = None) -> str | None:
    """The option `ordering` for the arguments permc_spec and options of scipy; None for the default. Raises ValueError for
    an unknown ordering, and TypeError for an unknown option."""
    for name in options or {}:
        if name.lower() not in _SUPERLU:
            raise TypeError(f"unknown option {name!r} of SuperLU; options of Espalier are keywords")
        if name.lower() == "colperm" and permc_spec is None:
            permc_spec = (options or {})[name]
    if permc_spec is None:
        return None
    if permc_spec not in _ORDERINGS:
        raise ValueError(f"permc_spec = {permc_spec!r}; it is one of {', '.join(_ORDERINGS)}")
    return _ORDERINGS[permc_spec]
