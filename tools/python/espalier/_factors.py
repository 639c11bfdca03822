"""Factor objects: cholesky, ldl and lu, with the names of scikit-sparse and of SuperLU objects of scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ._arrays import Block, Symmetric, require_sparse, scalar_type
from ._errors import InputError
from ._progress import Log, Progress
from ._solver import Factors, Inertia, LogDeterminant, Solver

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords


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

    def __reduce__(self) -> Any:
        raise TypeError(
            "factors cannot be copied or pickled, because they belong to this process; factorize the matrix again"
        )

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


class SymmetricFactor(Factor):
    """Factors A[p][:, p] = L L^H, L D L^H or L D L^T, as cholesky() and ldl() return them, with the names of scikit-sparse.
    L^T and "t" in these names mean L^H for complex Hermitian matrices. The factors are copied at the first use."""

    def P(self) -> npt.NDArray[Any]:
        """The permutation: row k of the factors is row P()[k] of A."""
        return self._factors().p

    def L(self) -> Any:
        """The factor L as a CSC matrix, with a unit diagonal for ldl."""
        return self._factors().L

    def D(self) -> Any:
        """The factor D as a CSC matrix, with blocks of 1 x 1 and 2 x 2 for ldl; the identity for cholesky."""
        D = self._factors().D
        return sparse.identity(self.shape[0], self.dtype, format="csc") if D is None else D

    def apply_P(self, b: Any) -> npt.NDArray[Any]:
        """P b: the rows of b in the order of the factors."""
        permuted: npt.NDArray[Any] = np.asarray(b)[self.P()]
        return permuted

    def apply_Pt(self, b: Any) -> npt.NDArray[Any]:
        """P^T b, which undoes apply_P()."""
        b = np.asarray(b)
        x: npt.NDArray[Any] = np.empty_like(b)
        x[self.P()] = b
        return x

    def solve_LD(self, b: Any) -> npt.NDArray[Any]:
        """Solve L D x = b."""
        return self._solve_half(b, False)

    def solve_L(self, b: Any) -> npt.NDArray[Any]:
        """Solve L x = b."""
        x = self._solve_half(b, False)
        D = self._factors().D
        if D is not None:
            x = D @ x
        return x

    def solve_Lt(self, b: Any) -> npt.NDArray[Any]:
        """Solve L^H x = b, or L^T x = b for ldl(A, symmetric="symmetric")."""
        return self._solve_half(b, True)

    def solve_D(self, b: Any) -> npt.NDArray[Any]:
        """Solve D x = b."""
        return self._solve_half(self._factors().L @ np.asarray(b), False)

    def solve_DLt(self, b: Any) -> npt.NDArray[Any]:
        """Solve D L^H x = b (or D L^T x = b)."""
        return self.solve_Lt(self.solve_D(b))

    def _solve_half(self, b: Any, adjoint: bool) -> npt.NDArray[Any]:
        work = self.solver._require_work("solve_L")
        block = Block(b, work.shape[0], work.dtype)
        return block.restore(work.handle.solve_lower(block.values, adjoint, self.solver._listeners))


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


def _solver(A: Any, name: Literal["llh", "ldlt", "ldlh", "lu"], symmetric: Symmetric, options: dict[str, Any]) -> Solver:
    if "method" in options or "factorization" in options:
        raise TypeError("factor objects determine the options method and factorization; use espalier.Solver")
    return Solver(symmetric=symmetric, factorization=name, **options).factorize(A)


def cholesky(
    A: Any, *, progress: Progress = None, log: Log = None, **options: Unpack[Keywords]
) -> SymmetricFactor:
    """Factorize A = L L^H, a symmetric (real) or Hermitian positive definite matrix. Both triangles, or only one, may have
    entries. Raises NotPositiveDefiniteError. The keywords are those of Solver."""
    return SymmetricFactor(_solver(A, "llh", "hermitian", dict(progress=progress, log=log, **options)))


def ldl(
    A: Any,
    *,
    symmetric: Symmetric = "hermitian",
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> SymmetricFactor:
    """Factorize A = L D L^H, a symmetric (real) or Hermitian matrix, or with symmetric="symmetric" A = L D L^T, a complex
    symmetric one. Both triangles, or only one, may have entries. The keywords are those of Solver."""
    if symmetric not in ("hermitian", "symmetric"):
        raise ValueError(f"symmetric = {symmetric!r}; it is 'hermitian' or 'symmetric'")
    require_sparse(A)
    complex_hermitian = symmetric == "hermitian" and scalar_type(A.dtype).kind == "c"
    kind: Literal["ldlh", "ldlt"] = "ldlh" if complex_hermitian else "ldlt"
    return SymmetricFactor(_solver(A, kind, symmetric, dict(progress=progress, log=log, **options)))


def lu(A: Any, *, progress: Progress = None, log: Log = None, **options: Unpack[Keywords]) -> GeneralFactor:
    """Factorize A = L U, any square matrix. The keywords are those of Solver."""
    return GeneralFactor(_solver(A, "lu", False, dict(progress=progress, log=log, **options)))


def splu(A: Any, *, progress: Progress = None, log: Log = None, **options: Unpack[Keywords]) -> GeneralFactor:
    """lu() under the name of scipy.sparse.linalg.splu."""
    return lu(A, progress=progress, log=log, **options)
