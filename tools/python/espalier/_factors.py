"""Factor objects: cholesky, ldl and lu, with the names of scikit-sparse and of SuperLU objects of scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from ._arrays import Symmetric, require_sparse, scalar_type
from ._errors import InputError
from ._progress import Log, Progress
from ._solver import Inertia, LogDeterminant, Solver

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords


class Inverse(LinearOperator):
    """The inverse of a factorized matrix, for arguments such as OPinv and M of scipy's functions."""

    def __init__(self, factor: Factor) -> None:
        super().__init__(factor.dtype, factor.shape)
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

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        assert self.solver.shape is not None
        return self.solver.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Scalar type of the factors."""
        assert self.solver.dtype is not None
        return self.solver.dtype

    @property
    def nnz(self) -> int:
        """Number of entries of the factor; of both factors for lu."""
        return int(self.solver.report["analysis"]["nnz_factor"])

    def __repr__(self) -> str:
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

    def refactorize(self, A: Any) -> Factor:
        """Replace the factors by those of A, a matrix with the same pattern; the analysis is kept. Operators of inverse()
        use the new factors. Returns the factor."""
        require_sparse(A)
        if scalar_type(A.dtype) != self.dtype:
            raise InputError(f"the matrix is of type {A.dtype}, but the factor of type {self.dtype}", "usage")
        self.solver.factorize(A)
        return self

    def selected_inverse(self) -> Any:
        """The entries of A^-1 on the pattern of A.T, as a CSC matrix; see Solver.selected_inverse()."""
        return self.solver.selected_inverse()

    def inverse_diagonal(self) -> npt.NDArray[Any]:
        """The diagonal of A^-1."""
        return self.solver.inverse_diagonal()

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


def _factor(A: Any, name: str, symmetric: Symmetric, options: dict[str, Any]) -> Factor:
    if "method" in options or "factorization" in options:
        raise TypeError("factor objects determine the options method and factorization; use espalier.Solver")
    return Factor(Solver(symmetric=symmetric, factorization=name, **options).factorize(A))


def cholesky(
    A: Any, *, progress: Progress = None, log: Log = None, **options: Unpack[Keywords]
) -> Factor:
    """Factorize A = L L^H, a symmetric (real) or Hermitian positive definite matrix. Both triangles, or only one, may have
    entries. Raises NotPositiveDefiniteError. The keywords are those of Solver."""
    return _factor(A, "llh", "hermitian", dict(progress=progress, log=log, **options))


def ldl(
    A: Any,
    *,
    symmetric: Symmetric = "hermitian",
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> Factor:
    """Factorize A = L D L^H, a symmetric (real) or Hermitian matrix, or with symmetric="symmetric" A = L D L^T, a complex
    symmetric one. Both triangles, or only one, may have entries. The keywords are those of Solver."""
    if symmetric not in ("hermitian", "symmetric"):
        raise ValueError(f"symmetric = {symmetric!r}; it is 'hermitian' or 'symmetric'")
    require_sparse(A)
    complex_hermitian = symmetric == "hermitian" and scalar_type(A.dtype).kind == "c"
    return _factor(A, "ldlh" if complex_hermitian else "ldlt", symmetric, dict(progress=progress, log=log, **options))


def lu(A: Any, *, progress: Progress = None, log: Log = None, **options: Unpack[Keywords]) -> Factor:
    """Factorize A = L U, any square matrix. The keywords are those of Solver."""
    return _factor(A, "lu", False, dict(progress=progress, log=log, **options))
