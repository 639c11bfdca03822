"""Matrices and solvers of PETSc. The environment has PETSC_OPTIONS="-dll_append .../libespalier_petsc.so"."""

from petsc4py import PETSc

OPTIONS = PETSc.Options()


def laplacian(width, *, kind="aij", convection=0.0, shift=0.0):
    """Five-point stencil on width x width points, unsymmetric with convection."""
    order = width * width
    matrix = PETSc.Mat().create(PETSc.COMM_WORLD)
    matrix.setSizes([order, order])
    matrix.setType(kind)
    matrix.setPreallocationNNZ(5)
    if kind == "sbaij":
        matrix.setOption(PETSc.Mat.Option.IGNORE_LOWER_TRIANGULAR, True)
    matrix.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    fill(matrix, width, convection, shift)
    return matrix


def fill(matrix, width, convection=0.0, shift=0.0):
    """Sets all values of such a matrix."""
    first, last = matrix.getOwnershipRange()
    for row in range(first, last):
        i, j = divmod(row, width)
        matrix.setValue(row, row, 4.0 - shift)
        for column, value in ((row - width, -1.0), (row + width, -1.0)):
            if 0 <= column < width * width:
                matrix.setValue(row, column, value)
        if j > 0:
            matrix.setValue(row, row - 1, -1.0 - convection)
        if j < width - 1:
            matrix.setValue(row, row + 1, -1.0 + convection)
    matrix.assemble()


def direct(matrix, kind="lu", solver="espalier", **options):
    """A KSP that only solves with the factorization."""
    prefix = f"run{direct.number}_"
    direct.number += 1
    for name, value in options.items():
        OPTIONS[prefix + name] = value
    ksp = PETSc.KSP().create(matrix.getComm())
    ksp.setOptionsPrefix(prefix)
    ksp.setOperators(matrix)
    ksp.setType("preonly")
    ksp.getPC().setType(kind)
    ksp.getPC().setFactorSolverType(solver)
    ksp.setFromOptions()
    return ksp


direct.number = 0


def right_hand_side(matrix, seed=1):
    b = matrix.createVecRight()
    first, last = b.getOwnershipRange()
    b.setArray([((seed * 7919 + 31 * k) % 97) / 48.0 - 1.0 for k in range(first, last)])
    return b


def residual(matrix, x, b, transposed=False):
    """Norm of the residual, relative to b."""
    r = b.duplicate()
    (matrix.multTranspose if transposed else matrix.mult)(x, r)
    r.aypx(-1.0, b)
    return r.norm() / b.norm()
