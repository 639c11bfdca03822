"""Whether the extension module can exchange arrays with the installed numpy."""

from __future__ import annotations


def require_compatible(numpy: str, pybind11: tuple[int, int]) -> None:
    """Raises ImportError if a module compiled with this version of pybind11 would misread the arrays of this version of
    numpy: pybind11 before 2.12 does not know the array structure of numpy 2, and finds wrong strides."""
    if int(numpy.split(".")[0]) < 2 or pybind11 >= (2, 12):
        return
    found = ".".join(str(number) for number in pybind11)
    raise ImportError(
        f"espalier was built with pybind11 {found}, which misreads the arrays of numpy {numpy}. Build espalier again with "
        "pybind11 2.12 or newer (pip install . does), or install numpy < 2 (docs/python.md)"
    )
