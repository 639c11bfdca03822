"""Test matrices of any size, and checks that several tests share."""

import numpy as np
import pytest
from scipy import sparse

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def laplacian(k, dtype=np.float64):
    """The 7-point Laplacian on a grid of k x k x k, positive definite."""
    line = sparse.diags([-np.ones(k - 1), 2 * np.ones(k), -np.ones(k - 1)], [-1, 0, 1])
    one = sparse.identity(k)
    cube = sparse.kron(sparse.kron(line, one), one) + sparse.kron(sparse.kron(one, line), one)
    return sparse.csc_matrix(cube + sparse.kron(sparse.kron(one, one), line), dtype=dtype)


def general(n=60, dtype=np.float64, seed=1):
    """A diagonally dominant matrix with unsymmetric pattern and values."""
    random = np.random.default_rng(seed)
    A = sparse.random(n, n, 0.08, random_state=np.random.RandomState(seed), format="csc").astype(dtype)
    if np.dtype(dtype).kind == "c":
        A.data = A.data + 1j * random.standard_normal(A.nnz).astype(A.real.dtype)
    return sparse.csc_matrix(A + sparse.identity(n) * 8, dtype=dtype)


def hermitian(n=50, dtype=np.complex128, seed=2):
    """An indefinite matrix with eigenvalues of both signs, none near zero."""
    A = general(n, dtype, seed)
    signs = sparse.diags(np.where(np.arange(n) % 3 == 0, -30.0, 30.0))
    return sparse.csc_matrix((A + A.conj().T) / 2 + signs, dtype=dtype)


def block(n, k, dtype, seed=3):
    random = np.random.default_rng(seed)
    b = random.standard_normal((n, k))
    if np.dtype(dtype).kind == "c":
        b = b + 1j * random.standard_normal((n, k))
    return b.astype(dtype)


def refuses(error, call, match=""):
    with pytest.raises(error, match=match):
        call()


def tolerance(dtype):
    return 2e-4 if np.finfo(dtype).eps > 1e-10 else 1e-10


def error(A, x, b):
    """Normwise backward error, infinity norms."""
    dense = A.toarray()
    residual = np.abs(b - dense @ x).max()
    return residual / (np.abs(dense).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())


def matrix_of(make, dtype):
    """The matrix of a small system that `make`, a function of this module, generates."""
    return make(4, dtype) if make is laplacian else make(dtype=dtype)
