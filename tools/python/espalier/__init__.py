"""Espalier: a sparse direct solver for scipy.sparse matrices.

    x = espalier.spsolve(A, b)              # one system
    solve = espalier.factorized(A)          # a function b -> x
    factor = espalier.cholesky(A)           # or ldl, lu: a factor object
    solver = espalier.Solver(threads=4)     # single steps, options and report

Every solution is checked. A backward error above the tolerance causes an AccuracyWarning.
"""

from numpy import __version__ as _numpy_version

try:
    from ._core import pybind11_version as _pybind11_version
    from ._core import version as __version__
except ImportError as error:
    if "cannot open shared object file" not in str(error):
        raise
    raise ImportError(
        f"espalier cannot load a library: {error}. This build of espalier needs it: install the library, or a wheel of "
        "espalier that contains all libraries (docs/python.md)"
    ) from error
from ._versions import require_compatible as _require_compatible

_require_compatible(_numpy_version, _pybind11_version)

from ._batch import solve_batch
from ._distributed import DistributedSolver
from ._errors import (
    AccuracyWarning,
    EspalierError,
    FileError,
    InputError,
    NotPositiveDefiniteError,
    OutOfMemoryError,
    SingularMatrixError,
    SingularMatrixWarning,
    UnsupportedError,
)
from ._factors import Factor, GeneralFactor, lu, splu
from ._functions import factorized, spsolve
from ._ilu import IncompleteInverse, ilu
from ._options import default_options
from ._processes import follow
from ._solver import Factors, Inertia, LogDeterminant, NullSpace, Prediction, ProcessPrediction, Solver
from ._symmetric_factors import SymmetricFactor, analyze, analyze_AAt, cholesky, cholesky_AAt, ldl

__all__ = [
    "AccuracyWarning",
    "DistributedSolver",
    "EspalierError",
    "Factor",
    "Factors",
    "FileError",
    "GeneralFactor",
    "IncompleteInverse",
    "Inertia",
    "InputError",
    "LogDeterminant",
    "NotPositiveDefiniteError",
    "NullSpace",
    "OutOfMemoryError",
    "Prediction",
    "ProcessPrediction",
    "SingularMatrixError",
    "SingularMatrixWarning",
    "Solver",
    "SymmetricFactor",
    "UnsupportedError",
    "__version__",
    "analyze",
    "analyze_AAt",
    "cholesky",
    "cholesky_AAt",
    "default_options",
    "factorized",
    "follow",
    "ilu",
    "ldl",
    "lu",
    "solve_batch",
    "splu",
    "spsolve",
]
