"""Factor objects of symmetric matrices: cholesky, ldl and analyze, with the names of scikit-sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ._arrays import Block, Symmetric, require_sparse, right_hand_side, scalar_type, to_coordinates
from ._factors import Factor, factor_solver, new_solver
from ._progress import Log, Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords

_ORDERINGS = {"default": None, "best": None, "natural": "natural", "amd": "amd", "colamd": "amd", "metis": "metis",
              "nesdis": "scotch"}  # fmt: skip


class SymmetricFactor(Factor):
    """Factors P A P^T = L D L^H (L D L^T for complex symmetric matrices), and for cholesky() also L L^H, with the names and
    the meaning of scikit-sparse. L^T and "t" in these names mean L^H for Hermitian matrices. As in scikit-sparse, L() of
    cholesky() is that of L L^H, but solve_L() and solve_Lt() use the L of L D L^H, which has a unit diagonal, unless
    use_LDLt_decomposition=False. The factors are copied at the first use."""

    def _is_llh(self) -> bool:
        return bool(self.solver.report["settings"]["factorization"] in ("llh", "llt"))

    def _pivots(self) -> npt.NDArray[Any]:
        """The diagonal of L for cholesky(), whose squares are D."""
        pivots: npt.NDArray[Any] = self._factors().L.diagonal().real
        return pivots

    def P(self) -> npt.NDArray[Any]:
        """The permutation: row k of the factors is row P()[k] of A."""
        return self._factors().p

    def L(self) -> Any:
        """The factor L as a CSC matrix: of L L^H for cholesky(), and of L D L^H, with a unit diagonal, for ldl()."""
        return self._factors().L

    def L_D(self) -> tuple[Any, Any]:
        """The factors L, with a unit diagonal, and D of L D L^H as CSC matrices. D has blocks of 1 x 1 and, for ldl(),
        of 2 x 2."""
        L, D = self._factors()[:2]
        if self._is_llh():
            pivots = self._pivots()
            return sparse.csc_matrix(L @ sparse.diags(1 / pivots)), sparse.csc_matrix(sparse.diags(pivots**2))
        return L, D

    def D(self) -> npt.NDArray[Any]:
        """The diagonal of D as an array. Raises ValueError if D has blocks of 2 x 2; L_D() has these."""
        if self._is_llh():
            return self._pivots() ** 2
        D = self._factors().D
        diagonal: npt.NDArray[Any] = D.diagonal()
        if (D - sparse.diags(diagonal)).count_nonzero():
            raise ValueError("D has blocks of 2 x 2; use L_D()")
        return diagonal

    def LD(self) -> Any:
        """L and D in one CSC matrix, with D in place of the unit diagonal of L."""
        diagonal = self.D()
        L = self.L_D()[0].copy()
        L.setdiag(diagonal)
        return L

    def apply_P(self, b: Any) -> npt.NDArray[Any]:
        """P b: the rows of b in the order of the factors."""
        permuted: npt.NDArray[Any] = self._rows(b)[self.P()]
        return permuted

    def apply_Pt(self, b: Any) -> npt.NDArray[Any]:
        """P^T b, which undoes apply_P()."""
        b = self._rows(b)
        x: npt.NDArray[Any] = np.empty_like(b)
        x[self.P()] = b
        return x

    def solve_L(self, b: Any, use_LDLt_decomposition: bool = True) -> npt.NDArray[Any]:
        """Solve L x = b with the L of L D L^H, or with that of L L^H if use_LDLt_decomposition=False (cholesky() only)."""
        self._require_llh(use_LDLt_decomposition)
        x = self._solve_half(b, False)
        if not self._is_llh():
            x = self._factors().D @ x
        elif use_LDLt_decomposition:
            x = _scaled(self._pivots(), x)
        return x

    def solve_Lt(self, b: Any, use_LDLt_decomposition: bool = True) -> npt.NDArray[Any]:
        """Solve L^H x = b (L^T x = b for complex symmetric matrices); see solve_L()."""
        self._require_llh(use_LDLt_decomposition)
        if self._is_llh() and use_LDLt_decomposition:
            b = _scaled(self._pivots(), self._rows(b))
        return self._solve_half(b, True)

    def solve_D(self, b: Any) -> npt.NDArray[Any]:
        """Solve D x = b."""
        b = self._rows(b)
        return _scaled(self._pivots() ** -2.0, b) if self._is_llh() else self._solve_half(self._factors().L @ b, False)

    def solve_LD(self, b: Any) -> npt.NDArray[Any]:
        """Solve L D x = b."""
        x = self._solve_half(b, False)
        return _scaled(1 / self._pivots(), x) if self._is_llh() else x

    def solve_DLt(self, b: Any) -> npt.NDArray[Any]:
        """Solve D L^H x = b (or D L^T x = b)."""
        if self._is_llh():
            return self._solve_half(_scaled(1 / self._pivots(), self._rows(b)), True)
        return self.solve_Lt(self.solve_D(b))

    def solve_LDLt(self, b: Any) -> npt.NDArray[Any]:
        """Solve L D L^H x = b, with b in the order of the factors."""
        return self._solve_half(self._solve_half(b, False), True)

    def inv(self) -> Any:
        """A^-1 as a CSC matrix. Most inverses are dense. selected_inverse() and inverse_diagonal() compute the entries
        that are needed most often, in less memory."""
        return sparse.csc_matrix(self.solve_A(sparse.identity(self.shape[0], self.dtype, format="csc")))

    def cholesky(self, A: Any, beta: float = 0) -> SymmetricFactor:
        """The factor of A + beta I as a new object with the options of this one. The analysis is repeated;
        cholesky_inplace() keeps it."""
        return SymmetricFactor(self.solver.copy(matrix=False).factorize(shifted(A, beta)))

    def cholesky_inplace(self, A: Any, beta: float = 0) -> None:
        """Replace the factors by those of A + beta I. The analysis is kept if it was of this pattern."""
        self._explicit = None
        self.solver.factorize(shifted(A, beta))

    def cholesky_AAt(self, A: Any, beta: float = 0) -> SymmetricFactor:
        """cholesky() of A A^H + beta I."""
        return self.cholesky(product(A), beta)

    def cholesky_AAt_inplace(self, A: Any, beta: float = 0) -> None:
        """cholesky_inplace() of A A^H + beta I."""
        self.cholesky_inplace(product(A), beta)

    def _rows(self, b: Any) -> npt.NDArray[Any]:
        return right_hand_side(b, self.shape[0])

    def _require_llh(self, use_LDLt_decomposition: bool) -> None:
        if not use_LDLt_decomposition and not self._is_llh():
            raise ValueError("factors of ldl() have no L of L L^H; use cholesky()")

    def _solve_half(self, b: Any, adjoint: bool) -> npt.NDArray[Any]:
        """(L D)^-1 b for ldl and L^-1 b for cholesky, or with `adjoint` L^-H b (L^-T b), with the factors of the library."""
        work = self.solver._require_work("solve_L")
        block = Block(b, work.shape[0], work.dtype)
        return block.restore(work.handle.solve_lower(block.values, adjoint, self.solver._listeners))


def _scaled(factors: npt.NDArray[Any], x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    scaled: npt.NDArray[Any] = (x.T * factors).T
    return scaled


def shifted(A: Any, beta: float) -> Any:
    """A + beta I, on the pattern of A and the diagonal."""
    require_sparse(A)
    if not np.isfinite(beta) or np.iscomplexobj(beta):
        raise ValueError(f"beta = {beta}; it must be a finite real number")
    if beta == 0:
        return A
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"the matrix has shape {A.shape}; it must be square")
    entries, diagonal = to_coordinates(A), np.arange(A.shape[0])
    rows, columns = np.append(entries.row, diagonal), np.append(entries.col, diagonal)
    values = np.append(entries.data, np.full(len(diagonal), beta, scalar_type(A.dtype)))
    return sparse.coo_matrix((values, (rows, columns)), shape=A.shape)


def product(A: Any) -> Any:
    """A A^H."""
    require_sparse(A)
    A = sparse.csr_matrix(A)
    return sparse.csc_matrix(A @ A.conj().T)


def _settings(ordering_method: str, mode: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords with the options that arguments of scikit-sparse choose. Updates in place need supernodes."""
    if mode not in ("auto", "simplicial", "supernodal"):
        raise ValueError(f"mode = {mode!r}; it is 'auto', 'simplicial' or 'supernodal'")
    keywords = {"supernodes": "off" if mode == "simplicial" else "on", **keywords}
    if ordering_method not in _ORDERINGS:
        raise ValueError(f"ordering_method = {ordering_method!r}; it is one of {', '.join(_ORDERINGS)}")
    ordering = _ORDERINGS[ordering_method]
    return keywords if ordering is None else {"ordering": ordering, **keywords}


def cholesky(
    A: Any,
    beta: float = 0,
    mode: str = "auto",
    ordering_method: str = "default",
    use_long: bool | None = None,
    *,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> SymmetricFactor:
    """Factorize A + beta I = L L^H, a symmetric (real) or Hermitian positive definite matrix. Both triangles, or only one,
    may have entries. Raises NotPositiveDefiniteError.

    The positional arguments are those of scikit-sparse. ordering_method is "default", "best", "natural", "amd", "colamd"
    (amd), "metis" or "nesdis" (SCOTCH). mode "simplicial" means supernodes="off", which is faster for small and very sparse
    matrices, but the first update analyzes and factorizes them again; other modes mean "on". use_long has no effect. The
    keywords are those of Solver."""
    settings = _settings(ordering_method, mode, dict(progress=progress, log=log, **options))
    return SymmetricFactor(factor_solver(shifted(A, beta), "llh", "hermitian", settings))


def cholesky_AAt(
    A: Any,
    beta: float = 0,
    mode: str = "auto",
    ordering_method: str = "default",
    use_long: bool | None = None,
    *,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> SymmetricFactor:
    """cholesky() of A A^H + beta I, for an A of any shape."""
    return cholesky(product(A), beta, mode, ordering_method, use_long, progress=progress, log=log, **options)


def analyze(
    A: Any,
    mode: str = "auto",
    ordering_method: str = "default",
    use_long: bool | None = None,
    *,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> SymmetricFactor:
    """Analyze the pattern of A and the diagonal, without factors: factor.cholesky_inplace(A) computes them. The arguments
    are those of cholesky()."""
    settings = _settings(ordering_method, mode, dict(progress=progress, log=log, **options))
    return SymmetricFactor(new_solver("llh", "hermitian", settings).analyze(shifted(A, 1)))


def analyze_AAt(
    A: Any,
    mode: str = "auto",
    ordering_method: str = "default",
    use_long: bool | None = None,
    *,
    progress: Progress = None,
    log: Log = None,
    **options: Unpack[Keywords],
) -> SymmetricFactor:
    """analyze() of A A^H, for factor.cholesky_AAt_inplace(A)."""
    return analyze(product(A), mode, ordering_method, use_long, progress=progress, log=log, **options)


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
    return SymmetricFactor(factor_solver(A, kind, symmetric, dict(progress=progress, log=log, **options)))
