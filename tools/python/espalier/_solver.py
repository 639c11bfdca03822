"""The class Solver, which holds the analysis and the factors of a matrix, and its result types."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _core
from ._arrays import Block, Symmetric, claim, count, dense, flag, join_parts, operation, require_sparse
from ._arrays import scalar_type, text, to_columns, to_matrix, to_named_matrix
from ._errors import AccuracyWarning, InputError, SingularMatrixWarning
from ._options import get_options, set_options
from ._processes import RootProcess, close_at_exit
from ._progress import Log, Progress, log_function, progress_function

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Keywords


class Inertia(NamedTuple):
    """Numbers of positive, negative, and zero eigenvalues (zero includes those of unknown sign)."""

    positive: int
    negative: int
    zero: int


class LogDeterminant(NamedTuple):
    """det A = sign * exp(logabsdet), as in numpy.linalg.slogdet."""

    sign: Any
    logabsdet: float


class NullSpace(NamedTuple):
    """Rank and null space of a matrix. `basis` has orthonormal columns and is n x (n - rank)."""

    rank: int
    basis: npt.NDArray[Any]
    #: The smallest singular values that were examined, ascending, divided by the norm of A.
    singular_values: npt.NDArray[np.float64]


class ProcessPrediction(NamedTuple):
    """Prediction for one process."""

    #: Number of column blocks that it owns.
    cblks: int
    #: Busy time of all its threads together.
    busy_s: float
    #: All its memory: panels, the maximum of fan-in blocks, and the rest.
    memory_bytes: float
    #: Memory of the fan-in blocks alone.
    fan_in_bytes: float
    sent_bytes: float
    received_bytes: float
    messages_sent: int
    messages_received: int


class Prediction(NamedTuple):
    """Prediction of factorization and solve on a machine, in seconds and bytes."""

    processes: int
    #: Threads of each process.
    threads: int
    #: Communication threads of each process.
    comm_threads: int
    #: The makespan: predicted time of the factorization.
    factor_s: float
    #: Predicted time of a solve with one right-hand side.
    solve_s: float
    #: A lower bound on the time of every schedule of these tasks.
    critical_path_s: float
    #: Time of all tasks together.
    work_s: float
    #: Time of the workers in messages, or lost to communication threads that use their cores.
    communication_s: float
    #: work_s / (factor_s * processes * threads)
    efficiency: float
    #: Number of tasks of the workers.
    tasks: int
    #: Number of messages between processes.
    messages: int
    #: Bytes of these messages: the communication volume.
    message_bytes: float
    #: Idle time of each worker, processes x threads.
    idle_s: npt.NDArray[np.float64]
    process: tuple[ProcessPrediction, ...]
    #: Settings that have no effect on this schedule, one sentence each.
    notes: tuple[str, ...]


#: The path of a trace.
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Factors(NamedTuple):
    """The factors of A as CSC matrices: A[p][:, q] = L U, L D L^H or L L^H, with the arrays of indices p and q. D is None
    for cholesky and lu, U for all but lu; q equals p except for lu. L has a unit diagonal except for cholesky."""

    L: Any
    D: Any
    U: Any
    p: npt.NDArray[Any]
    q: npt.NDArray[Any]


class _Work(NamedTuple):
    """A handle of the library and the properties of its matrix, replaced together."""

    handle: _core.Solver
    dtype: np.dtype[Any]
    shape: tuple[int, int]
    symmetry: str


_FLOAT64 = np.dtype(np.float64)


class Solver:
    """A sparse direct solver.

        solver = espalier.Solver(ordering="metis", threads=2)
        solver.factorize(A)         # analyzes first
        x = solver.solve(b)
        solver.factorize(A2)        # new values on the same pattern: reuses the analysis

    symmetric: the symmetry of matrices. None: detect it from the values (a_ij == a_ji exactly). True (real
        matrices), "symmetric" or "hermitian": one triangle without entries is implied by the other; otherwise
        both must agree up to rounding. False: treat every matrix as general.
    progress: a function of the name of a phase and the completed fraction (None if unknown), or True for a bar on
        standard error if that is a terminal or the output of a notebook. It is called on the thread that called the solver.
    log: a function of one line, a logging.Logger, or True for the logger "espalier". Receives choices and fallbacks.
    options: those of the espalier command, with underscores; see default_options(). schur: the unknowns that are
        not eliminated.
    comm: a communicator of mpi4py; this process must be its process 0. The other processes call
        espalier.follow(comm), which returns when this solver is closed by close() or at the end of a `with` block.

    The computation uses float32, float64, complex64 or complex128 like the matrix, and float64 or complex128 for
    other types. Threads may share a solver; their calls run one after another. Ctrl-C ends a call with
    KeyboardInterrupt, and the solver can be used again.
    """

    def __init__(
        self,
        *,
        symmetric: Symmetric = None,
        progress: Progress = None,
        log: Log = None,
        comm: Any = None,
        **options: Unpack[Keywords],
    ) -> None:
        claim(symmetric, _FLOAT64)  # raises early for an invalid value
        self._symmetric = symmetric
        self._receivers = (progress, log)
        self._listeners: _core.Listeners = (progress_function(progress), log_function(log))
        self._options = _core.Options()
        set_options(self._options, options)
        self._work: _Work | None = None
        self._refused = False  # whether the last factorize() raised an error, perhaps before it called the library
        self._root = None if comm is None else RootProcess(comm)
        if comm is not None:
            close_at_exit(self)

    def close(self) -> None:
        """Free the matrix and the factors. With several processes, this ends espalier.follow() on the others, and this
        solver cannot be used any more."""
        self._work = None
        if self._root is not None:
            self._root.release()

    def copy(self, *, matrix: bool = True) -> Solver:
        """A new solver with the settings of this one. It factorizes the matrix of this one again, or analyzes it if
        there was only an analysis; with matrix=False, or after a factorization that failed, it has no matrix. copy.copy,
        copy.deepcopy and pickle work in the same way, so a solver can be sent to other processes."""
        return _solver_from(*self._recipe(matrix))

    def __copy__(self) -> Solver:
        return self.copy()

    def __deepcopy__(self, _: Any) -> Solver:
        return self.copy()

    def __reduce__(self) -> Any:
        return _solver_from, self._recipe(True)

    def _recipe(self, with_matrix: bool) -> tuple[dict[str, Any], Any, bool]:
        """The keywords, the last matrix, and whether it is factorized or only analyzed."""
        if self._root is not None:
            raise TypeError("a solver of several processes cannot be copied or pickled")
        progress, log = self._receivers
        settings = dict(self.options, schur=self._options.schur, symmetric=self._symmetric, progress=progress, log=log)
        work = None if self._refused or not with_matrix else self._work
        found = None if work is None else work.handle.matrix()
        if found is None:
            return settings, None, False
        columns, is_factorized = found
        return settings, _csc(columns), is_factorized

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _handle_for(self, dtype: np.dtype[Any]) -> _core.Solver:
        """The handle of the last matrix if that has this scalar type, else a new one."""
        if self._work is not None and self._work.dtype == dtype:
            return self._work.handle
        if self._root is None:
            return _core.Solver(dtype.char, self._options)
        self._work = None  # The other processes follow one handle at a time.
        return self._root.handle(dtype, self._options)

    def __repr__(self) -> str:
        work = self._work
        if work is None:
            return "<espalier.Solver without a matrix>"
        return f"<espalier.Solver of a {work.symmetry} {work.dtype} matrix of {work.shape[0]} x {work.shape[1]}>"

    # Options.

    @property
    def options(self) -> dict[str, str]:
        """The options by keyword, in the spelling of the command."""
        return get_options(self._options)

    def set_options(self, **options: Unpack[Keywords]) -> None:
        """Change options for later steps: an ordering from the next analyze() on, and so on."""
        changed = _core.Options(self._options)
        set_options(changed, options)
        if self._work is not None:
            self._work.handle.set_options(changed)
        self._options = changed

    # The matrix.

    @property
    def shape(self) -> tuple[int, int] | None:
        """Shape of the matrix; None before the first matrix."""
        return None if self._work is None else self._work.shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Scalar type of the computation; None before the first matrix."""
        return None if self._work is None else self._work.dtype

    @property
    def symmetry(self) -> str | None:
        """How the matrix is treated: "general", "symmetric" or "hermitian"; None before the first matrix."""
        return None if self._work is None else self._work.symmetry

    def analyze(self, A: Any) -> Solver:
        """Compute the ordering, the structure of the factors and the schedule. Returns the solver."""
        matrix, dtype = self._matrix_of(A, None)
        self._analyze(self._handle_for(dtype), matrix, dtype)
        return self

    def _analyze(self, handle: _core.Solver, matrix: _core.Matrix, dtype: np.dtype[Any]) -> None:
        handle.analyze(matrix, self._listeners)
        self._work = _Work(handle, dtype, matrix.shape, matrix.symmetry)

    def _factorize_new(
        self, handle: _core.Solver, matrix: _core.Matrix, dtype: np.dtype[Any], shape: tuple[int, int]
    ) -> None:
        """Analyzes and factorizes in one call of the extension module, which takes less time for small systems."""
        before = self._work
        self._work = _Work(handle, dtype, shape, "general" if self._symmetric is False else matrix.symmetry)
        try:
            handle.factorize(matrix, self._listeners)
        except BaseException:
            if not handle.is_analyzed(matrix):
                self._work = before
            raise

    def factorize(self, A: Any, *, reanalyze: bool = True) -> Solver:
        """Compute the factors of A. Analyzes A first if the last analysis was of another pattern, scalar type or symmetry.
        With reanalyze=False, another pattern or symmetry is an InputError. Returns the solver.

        After any error there are no factors, not even those of an earlier matrix: solve() and the other calls that need
        them are refused until factorize() succeeds."""
        self._factorize(A, None, reanalyze)
        return self

    def _factorize(self, A: Any, dtype: np.dtype[Any] | None, reanalyze: bool = True) -> None:
        try:
            self._factorize_now(A, dtype, reanalyze)
        except BaseException:
            self._refused = True
            raise
        self._refused = False

    def _factorize_now(self, A: Any, dtype: np.dtype[Any] | None, reanalyze: bool) -> None:
        matrix, dtype = self._matrix_of(A, dtype)
        handle = self._handle_for(dtype)
        if self._work is None or self._work.handle is not handle:
            self._factorize_new(handle, matrix, dtype, A.shape)
            return
        if reanalyze and not handle.is_analyzed(matrix):
            self._analyze(handle, matrix, dtype)
        handle.factorize(matrix, self._listeners)

    def _matrix_of(self, A: Any, dtype: np.dtype[Any] | None) -> tuple[_core.Matrix, np.dtype[Any]]:
        require_sparse(A)
        dtype = scalar_type(A.dtype) if dtype is None else dtype
        return to_matrix(A, dtype, claim(self._symmetric, dtype)), dtype

    def _require_work(self, what: str, step: str = "factorize") -> _Work:
        """The handle and its matrix. Only "report" is allowed after a factorize() that raised an error."""
        if self._work is None or (self._refused and step == "factorize" and what != "report"):
            raise InputError(f"{what} was called before {step}", "usage")
        return self._work

    # Solutions.

    def solve(self, b: Any, trans: str = "N", *, refine: bool = True) -> npt.NDArray[Any]:
        """Solve A x = b, with trans = "T" A^T x = b, or with trans = "H" A^H x = b.

        b has shape (n,) or (n, k), or is an n x k scipy.sparse matrix. The result is an array of the same shape, in
        the precision of the factorized matrix, and complex if the matrix or b is complex.

        The solution is refined according to the option `refine`. A backward error above the option `tolerance` gives
        an AccuracyWarning. With refine=False, the solution is neither refined nor checked.
        """
        return self._solve(b, trans, refine=flag("refine", refine), stacklevel=3)

    def _solve(self, b: Any, trans: str, *, refine: bool, stacklevel: int) -> npt.NDArray[Any]:
        work = self._require_work("solve")
        op = operation(trans)
        if sparse.issparse(b):
            return self._solve_sparse(work, b, op, refine, stacklevel + 1)
        block = Block(b, work.shape[0], work.dtype)
        x = block.copy()
        if x.size:
            verdict = work.handle.solve(block.values, x, op, refine, False, self._listeners)
            warn_of(verdict, stacklevel)
        return block.restore(x)

    def _solve_sparse(
        self, work: _Work, b: Any, op: str, refine: bool, stacklevel: int
    ) -> npt.NDArray[Any]:
        if len(b.shape) != 2 or b.shape[0] != work.shape[0]:
            raise ValueError(f"b has shape {b.shape}; it must be ({work.shape[0]}, k)")
        split = scalar_type(b.dtype).kind == "c" and work.dtype.kind != "c"
        if split:
            b = sparse.hstack([b.real, b.imag], format="csc")
        x = work.handle.solve_sparse(to_named_matrix("b", b, work.dtype), op, self._listeners)
        if refine and x.size:
            right = np.asarray(b.toarray(), dtype=work.dtype, order="F")
            warn_of(work.handle.refine(right, x, op, False, self._listeners), stacklevel)
        return join_parts(x) if split else x

    def refine(self, b: Any, x: Any, trans: str = "N") -> npt.NDArray[Any]:
        """Improve a given solution x for b according to the option `refine`. Both may be arrays or, as for solve(),
        scipy.sparse matrices. Returns a new array. Its backward error is report["backward_error"]; an error above
        the option `tolerance` gives an AccuracyWarning."""
        work = self._require_work("refine")
        op = operation(trans)
        right, start = dense(b), dense(x)
        if right.shape != start.shape:
            raise ValueError(f"b has shape {right.shape} and x {start.shape}; the shapes must be equal")
        if right.dtype.kind == "c" or start.dtype.kind == "c":
            right, start = right.astype(complex), start.astype(complex)
        block = Block(right, work.shape[0], work.dtype)
        improved = Block(start, work.shape[0], work.dtype, "x").copy()
        if improved.size:
            warn_of(work.handle.refine(block.values, improved, op, False, self._listeners), 3)
        return block.restore(improved)

    # Results of the factorization.

    @property
    def report(self) -> dict[str, Any]:
        """Results of the last calls, with the keys of the command's --json, such as report["analysis"]["flops"] and
        report["backward_error"]. Times are in seconds, memory in bytes."""
        return self._require_work("report").handle.report()

    def inertia(self) -> Inertia:
        """Signs of the eigenvalues of a real symmetric or Hermitian matrix; with the option `schur`, of its block A_ii."""
        return Inertia(*self._require_work("inertia").handle.inertia())

    def slogdet(self) -> LogDeterminant:
        """Sign (or phase) and logarithm of the modulus of the determinant."""
        return self._slogdet("slogdet")

    def _slogdet(self, what: str) -> LogDeterminant:
        handle = self._require_work(what).handle
        try:
            return LogDeterminant(*handle.determinant())
        except InputError as error:  # Its message begins with the name of the C++ function.
            raise InputError(re.sub("^determinant ", f"{what} ", str(error)), error.status) from None

    def determinant(self) -> Any:
        """The determinant. It is infinite or 0 if it overflows or underflows; slogdet() does neither."""
        sign, logabsdet = self._slogdet("determinant")
        with np.errstate(over="ignore", under="ignore"):
            modulus = float(np.exp(logabsdet))
        return sign if sign == 0 else sign * modulus

    def rcond(self) -> float:
        """An estimate of the reciprocal condition number 1 / (|A| |A^-1|) in the 1-norm."""
        return self._require_work("rcond").handle.rcond(self._listeners)

    def null_space(self, tolerance: float = 0) -> NullSpace:
        """Rank and a basis of the null space, for singular values below tolerance * |A| (0: n epsilon). Needs the
        option allow_singular=True."""
        work = self._require_work("null_space")
        rank, basis, values = work.handle.null_space(float(tolerance), self._listeners)
        return NullSpace(rank, basis, np.array(values, dtype=np.float64))

    def factors(self) -> Factors:
        """Copies of the factors as sparse matrices, without scales."""
        work = self._require_work("factors")
        kind, lower, diagonal, upper, p, q = work.handle.factors()
        D = _csc(diagonal) if kind in ("ldlt", "ldlh") else None
        U = _csc(upper) if kind == "lu" else None
        return Factors(_csc(lower), D, U, p, q)

    def update(self, W: Any, sign: int = 1) -> bool:
        """Replace A by A + W W^H (sign=1) or A - W W^H (sign=-1), with W W^T for complex symmetric A, and its factors by
        those of the new matrix. W is an n x k scipy.sparse matrix or array, or a vector. Returns whether the factors
        were changed in place; otherwise the new matrix was factorized, and report["notes"] has the reason. If the new
        matrix is singular, or not positive definite for llh, A and the factors remain."""
        work = self._require_work("update")
        if not isinstance(sign, (int, np.integer)) or sign not in (1, -1):
            raise InputError(f"sign = {sign!r}; it must be 1 or -1", "usage")
        return work.handle.update(to_columns(W, work.shape[0], work.dtype), sign, self._listeners)

    def downdate(self, W: Any) -> bool:
        """Replace A by A - W W^H; see update()."""
        return self.update(W, -1)

    def selected_inverse(self) -> Any:
        """The selected inverse (Takahashi): a scipy CSC matrix with the entries (j, i) of A^-1 for all entries (i, j) of
        A, that is, on the pattern of A.T, which is that of A if it is symmetric. The entries are not refined, but some
        are checked; inaccurate ones give an AccuracyWarning. Needs the memory of the factors again."""
        return self._selected_inverse(3)

    def _selected_inverse(self, stacklevel: int) -> Any:
        columns, doubts = self._require_work("selected_inverse").handle.selected_inverse(self._listeners)
        _warn_of_notes(doubts, stacklevel)
        return _csc(columns)

    def inverse_diagonal(self) -> npt.NDArray[Any]:
        """The diagonal of A^-1, for the time and memory of selected_inverse(). Its entries are checked likewise."""
        return self._inverse_diagonal(3)

    def _inverse_diagonal(self, stacklevel: int) -> npt.NDArray[Any]:
        diagonal, doubts = self._require_work("inverse_diagonal").handle.inverse_diagonal(self._listeners)
        _warn_of_notes(doubts, stacklevel)
        return diagonal

    # Predictions and traces.

    def predict(
        self, processes: int = 1, threads: int = 0, trace: Path | None = None, name: str = ""
    ) -> Prediction:
        """Predict the factorization on a machine with the given numbers of processes and of threads in each (0: the
        cores of the topology). Needs analyze() or factorize(), with supernodes="on" for small and very sparse
        systems. trace: path of a file for the predicted schedule, in the format of write_trace()."""
        work = self._require_work("predict", "analyze")
        processes, threads = count("processes", processes, 1), count("threads", threads, 0)
        path = b"" if trace is None else _file_name(trace)
        found = work.handle.predict(processes, threads, path, text("name", name))
        found["idle_s"] = np.array(found["idle_s"]).reshape(found["processes"], found["threads"])
        found["process"] = tuple(_named(ProcessPrediction, one) for one in found["process"])
        found["notes"] = tuple(found["notes"])
        prediction: Prediction = _named(Prediction, found)
        return prediction

    def write_trace(self, path: Path, name: str = "") -> None:
        """Write the run since the last analyze() or write_trace() as a Pajé trace for ViTE or `espalier trace`. Needs
        the option record_trace=True. The file is compressed if its name ends in .gz, and appears complete or not at
        all. `name` is the name of the matrix in the trace."""
        work = self._require_work("write_trace", "analyze")
        work.handle.write_trace(_file_name(path), text("name", name))

    # With the option schur.

    def schur_complement(self) -> npt.NDArray[Any]:
        """The k x k Schur complement S = A_ss - A_si A_ii^-1 A_is for the k unknowns s of the option `schur`, in that
        order."""
        return self._require_work("schur_complement").handle.schur_complement()

    def condense(self, b: Any, trans: str = "N") -> npt.NDArray[Any]:
        """The right-hand side b_s - A_si A_ii^-1 b_i of the system S x_s = ... that corresponds to A x = b. With
        trans = "T" or "H", A^T and S^T, or A^H and S^H, take the places of A and S."""
        work = self._require_work("condense")
        op = operation(trans)
        block = Block(b, work.shape[0], work.dtype)
        return block.restore(work.handle.condense(block.values, op, self._listeners))

    def expand(self, b: Any, x_schur: Any, trans: str = "N") -> npt.NDArray[Any]:
        """The complete solution of A x = b from x_s. With trans = "T" or "H", the system is A^T x = b or A^H x = b."""
        work = self._require_work("expand")
        op = operation(trans)
        right, inner = dense(b), dense(x_schur)
        if right.shape[1:] != inner.shape[1:] or right.ndim != inner.ndim:
            raise ValueError(f"b has shape {right.shape} and x_schur {inner.shape}; the numbers of columns must be equal")
        if right.dtype.kind == "c" or inner.dtype.kind == "c":
            right, inner = right.astype(complex), inner.astype(complex)
        block = Block(right, work.shape[0], work.dtype)
        known = Block(inner, inner.shape[0], work.dtype, "x_schur")
        return block.restore(work.handle.expand(block.values, known.values, op, self._listeners))


def _solver_from(settings: dict[str, Any], matrix: Any, is_factorized: bool) -> Solver:
    solver = Solver(**settings)
    if matrix is None:
        return solver
    return solver.factorize(matrix) if is_factorized else solver.analyze(matrix)


def _csc(columns: _core.Columns) -> Any:
    """A square matrix. Another thread may have given the solver a matrix of another size in the meantime."""
    starts, rows, values = columns
    return sparse.csc_matrix((values, rows, starts), shape=(len(starts) - 1, len(starts) - 1))


def _named(kind: Any, found: dict[str, Any]) -> Any:
    return kind(*(found[name] for name in kind._fields))


def _file_name(path: Path) -> bytes:
    name = os.fsencode(path)
    if not name or b"\0" in name:
        raise ValueError(f"{path!r} is not the name of a file")
    return name


def warn_of(verdict: tuple[str, float, bool] | None, stacklevel: int) -> None:
    if verdict is None or verdict[0] == "ok":
        return
    status, error, is_scaled = verdict
    kind: type[Warning] = AccuracyWarning
    of_what = "the backward error of the scaled system" if is_scaled else "its backward error"
    message = f"the solution is inaccurate: {of_what}, {error:.1e}, is above the tolerance"
    if status == "singular":
        kind = SingularMatrixWarning
        message = f"the matrix is singular to working precision; backward error of the solution {error:.1e}"
    warnings.warn(message, kind, stacklevel=stacklevel + 1)


def _warn_of_notes(doubts: list[str], stacklevel: int) -> None:
    if doubts:
        warnings.warn("; ".join(doubts), AccuracyWarning, stacklevel=stacklevel + 1)
