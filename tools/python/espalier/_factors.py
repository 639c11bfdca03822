"""Factor objects: what those of all factorizations have in common, and lu and splu, with the names of scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from ._arrays import Symmetric, require_sparse, scalar_type
from ._errors import InputError
from ._progress import Log, Progress
from ._scipy_keywords import ordering_of
from ._solver import Factors, Inertia, LogDeterminant, Solver

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords


AnyFactor = TypeVar("AnyFactor", bound="Factor")


class Inverse(LinearOperator):
    """The inverse of a factorized matrix, for arguments such as OPinv and M of scipy's functions."""

    def __init__(self, factor: Factor) -> None:
        super().__init__(factor.dtype, factor.shape)  # type: ignore[call-arg,unused-ignore]
        self._factor = factor

    def _matvec(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._factor.solve(x)

    def _rmatvec(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._factor.solve(x, "H")

    _matmat = _matvec
    _rmatmat = _rmatvec


class Factor:
    """The factors of a matrix, as cholesky(), ldl() and lu() return them. Calling a factor solves: x = factor(b)."""

    #: The Solver with the factors, for its options and its report.
    solver: Solver

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self._explicit: Factors | None = None

    def _factors(self) -> Factors:
        if self._explicit is None:
            self._explicit = self.solver.factors()
        return self._explicit

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.solver._require_work("shape", "analyze").shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Scalar type of the factors."""
        return self.solver._require_work("dtype", "analyze").dtype

    @property
    def nnz(self) -> int:
        """Number of entries of the factor; of both factors for lu."""
        return int(self.solver.report["analysis"]["nnz_factor"])

    def copy(self: AnyFactor) -> AnyFactor:
        """A factor of the same matrix, which can be changed alone. It is computed again, or analyzed again if this is one
        of analyze(). copy.copy, copy.deepcopy and pickle work in the same way, so a factor can be sent to other
        processes."""
        return type(self)(self.solver.copy())

    def __copy__(self: AnyFactor) -> AnyFactor:
        return self.copy()

    def __deepcopy__(self: AnyFactor, _: Any) -> AnyFactor:
        return self.copy()

    def __reduce__(self) -> Any:
        return type(self), (self.solver,)

    def __repr__(self) -> str:
        if self.solver.shape is None:
            return "<espalier.Factor without a matrix>"
        kind = self.solver.report["settings"]["factorization"]
        return f"<espalier.Factor {kind} of a {self.dtype} matrix of {self.shape[0]} x {self.shape[1]}>"

    def solve(self, b: Any, trans: str = "N") -> npt.NDArray[Any]:
        """Solve A x = b, with trans = "T" A^T x = b, or with trans = "H" A^H x = b. Solutions are checked and refined as
        those of Solver.solve()."""
        return self.solver._solve(b, trans, refine=True, stacklevel=3)

    def solve_A(self, b: Any) -> npt.NDArray[Any]:
        """Solve A x = b."""
        return self.solver._solve(b, "N", refine=True, stacklevel=3)

    def __call__(self, b: Any) -> npt.NDArray[Any]:
        return self.solver._solve(b, "N", refine=True, stacklevel=3)

    def inverse(self) -> LinearOperator:
        """The inverse as a LinearOperator: eigsh(A, sigma=s, OPinv=espalier.ldl(A - s * identity).inverse())."""
        return Inverse(self)

    def refactorize(self: AnyFactor, A: Any) -> AnyFactor:
        """Replace the factors by those of A, a matrix with the same pattern; the analysis is kept. Operators of inverse()
        use the new factors. Returns the factor."""
        require_sparse(A)
        if scalar_type(A.dtype) != self.dtype:
            raise InputError(f"the matrix is of type {A.dtype}, but the factor of type {self.dtype}", "usage")
        self._explicit = None
        self.solver.factorize(A, reanalyze=False)
        return self

    def update(self, W: Any, sign: int = 1) -> bool:
        """Replace A by A + sign W W^H, and the factors by those of the new matrix; see Solver.update()."""
        self._explicit = None
        return self.solver.update(W, sign)

    def downdate(self, W: Any) -> bool:
        """Replace A by A - W W^H; see Solver.update()."""
        return self.update(W, -1)

    def update_inplace(self, C: Any, subtract: bool = False) -> None:
        """update() under the name of scikit-sparse: A + C C^H or, with `subtract`, A - C C^H."""
        self.update(C, -1 if subtract else 1)

    def selected_inverse(self) -> Any:
        """The entries of A^-1 on the pattern of A.T, as a CSC matrix; see Solver.selected_inverse()."""
        return self.solver._selected_inverse(3)

    def inverse_diagonal(self) -> npt.NDArray[Any]:
        """The diagonal of A^-1."""
        return self.solver._inverse_diagonal(3)

    def slogdet(self) -> LogDeterminant:
        """Sign (or phase) and logarithm of the modulus of the determinant."""
        return self.solver.slogdet()

    def logdet(self) -> float:
        """Logarithm of the determinant, which must be positive; see slogdet() for others."""
        sign, logarithm = self.slogdet()
        if not abs(sign - 1) < 1e-6:
            raise ValueError(f"the determinant is not positive (its sign is {sign}); use slogdet()")
        return logarithm

    def det(self) -> Any:
        """The determinant; infinite or 0 if it overflows or underflows."""
        return self.solver.determinant()

    def inertia(self) -> Inertia:
        """Signs of the eigenvalues of a real symmetric or Hermitian matrix."""
        return self.solver.inertia()


class GeneralFactor(Factor):
    """Factors of lu(), with the names of the SuperLU objects of scipy: row i of A is row perm_r[i] of L U, and column j is
    column perm_c[j]. The factors are copied at the first use."""

    @property
    def L(self) -> Any:
        """The factor L as a CSC matrix with a unit diagonal."""
        return self._factors().L

    @property
    def U(self) -> Any:
        """The factor U as a CSC matrix."""
        return self._factors().U

    @property
    def perm_r(self) -> npt.NDArray[Any]:
        """The new place of each row of A."""
        return np.argsort(self._factors().p)

    @property
    def perm_c(self) -> npt.NDArray[Any]:
        """The new place of each column of A."""
        return np.argsort(self._factors().q)


def factor_solver(
    A: Any, name: Literal["llh", "ldlt", "ldlh", "lu"], symmetric: Symmetric, keywords: dict[str, Any]
) -> Solver:
    """A solver with the factors of A."""
    return new_solver(name, symmetric, keywords).factorize(A)


def new_solver(
    name: Literal["llh", "ldlt", "ldlh", "lu"], symmetric: Symmetric, keywords: dict[str, Any]
) -> Solver:
    """A solver for a factor object."""
    if keywords and ("method" in keywords or "factorization" in keywords):
        raise TypeError("factor objects determine the options method and factorization; use espalier.Solver")
    return Solver(symmetric=symmetric, factorization=name, **keywords)


def lu(A: Any, *, progress: Progress = None, log: Log = None, **options: Unpack[Keywords]) -> GeneralFactor:
    """Factorize A = L U, any square matrix. The keywords are those of Solver."""
    return GeneralFactor(factor_solver(A, "lu", False, dict(progress=progress, log=log, **options)))


def splu(
    A: Any,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    relax: int | None = None,
    panel_size: int | None = None,
    options: dict[str, Any] | None = None,
    *,
    progress: Progress = None,
    log: Log = None,
    **keywords: Unpack[Keywords],
) -> GeneralFactor:
    """lu() with the arguments of scipy.sparse.linalg.splu. permc_spec chooses the ordering: "NATURAL", "MMD_ATA" and
    "MMD_AT_PLUS_A" (the option ordering="amd"), or "COLAMD" (the default ordering). The other arguments of scipy concern
    the algorithm of SuperLU and have no effect. The keywords are those of Solver."""
    if permc_spec is not None or options:
        chosen = ordering_of(permc_spec, options)
        if chosen is not None:
            keywords.setdefault("ordering", chosen)
    if keywords or progress is not None or log is not None:
        return lu(A, progress=progress, log=log, **keywords)
    solver = Solver(symmetric=False, factorization="lu")
    solver._factorize(A, None)
    return GeneralFactor(solver)
