"""Espalier as a solver package of an unmodified PETSc, on one process and on several."""

import ctypes
import os
import signal
import tempfile
import time
import unittest

import numpy as np
from problems import PETSc, direct, fill, laplacian, residual, right_hand_side
from scipy import sparse

ALONE = PETSc.COMM_WORLD.getSize() == 1


def view(item, detail=False):
    """The text that PETSc prints about an object."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(PETSc.COMM_WORLD.tompi4py().bcast(folder), "view")
        viewer = PETSc.Viewer().createASCII(path, comm=item.getComm())
        viewer.pushFormat(PETSc.Viewer.Format.ASCII_INFO_DETAIL if detail else PETSc.Viewer.Format.ASCII_INFO)
        item.view(viewer)
        viewer.destroy()
        PETSc.COMM_WORLD.tompi4py().barrier()
        with open(path) as file:
            text = file.read()
        PETSc.COMM_WORLD.tompi4py().barrier()
        return text


class Solves(unittest.TestCase):
    def check(self, matrix, kind, **options):
        ksp = direct(matrix, kind, **options)
        b = right_hand_side(matrix)
        x = b.duplicate()
        ksp.solve(b, x)
        self.assertEqual(ksp.getPC().getFactorSolverType(), "espalier")
        self.assertLess(residual(matrix, x, b), 1e-12)
        ksp.solveTranspose(b, x)
        self.assertLess(residual(matrix, x, b, transposed=True), 1e-12)
        return ksp

    def test_lu_of_an_unsymmetric_matrix(self):
        self.check(laplacian(17, convection=0.4), "lu")

    def test_cholesky_of_each_type_of_matrix(self):
        for kind in ("aij", "baij", "sbaij"):
            with self.subTest(kind):
                self.check(laplacian(17, kind=kind), "cholesky")

    def test_lu_of_blocked_matrices(self):
        self.check(laplacian(17, kind="baij", convection=0.4), "lu")
        self.check(laplacian(17, kind="sbaij"), "lu")

    def test_same_solution_as_petsc_or_mumps(self):
        matrix = laplacian(23, convection=0.3)
        b = right_hand_side(matrix)
        x, y = b.duplicate(), b.duplicate()
        direct(matrix, "lu").solve(b, x)
        direct(matrix, "lu", "petsc" if ALONE else "mumps").solve(b, y)
        y.axpy(-1.0, x)
        self.assertLess(y.norm(), 1e-12 * x.norm())

    def test_new_values_reuse_the_analysis_and_a_new_pattern_does_not_disturb(self):
        matrix = laplacian(17)
        ksp = self.check(matrix, "lu")
        fill(matrix, 17, convection=0.6, shift=-1.0)
        b = right_hand_side(matrix, 2)
        x = b.duplicate()
        ksp.setOperators(matrix)
        ksp.solve(b, x)
        self.assertLess(residual(matrix, x, b), 1e-12)
        matrix.setOption(PETSc.Mat.Option.NEW_NONZERO_LOCATION_ERR, False)
        matrix.setValue(0, 200, 0.5)
        matrix.assemble()
        ksp.setOperators(matrix)
        ksp.solve(b, x)
        self.assertLess(residual(matrix, x, b), 1e-12)

    def test_many_right_hand_sides(self):
        matrix = laplacian(17, convection=0.4)
        factor = self.check(matrix, "lu").getPC().getFactorMatrix()
        right = PETSc.Mat().createDense([matrix.getSizes()[0], 5], comm=matrix.getComm())
        right.setUp()
        right.setRandom()
        right.assemble()
        left = right.duplicate()
        factor.matSolve(right, left)
        product = matrix.matMult(left)
        product.axpy(-1.0, right)
        self.assertLess(product.norm(), 1e-12 * right.norm())

    def test_options_come_from_the_table_of_the_library(self):
        ksp = self.check(laplacian(17), "cholesky", mat_espalier_ordering="natural", mat_espalier_threads=1,
                         mat_espalier_max_memory="1G", mat_espalier_refine="none")
        text = view(ksp.getPC().getFactorMatrix(), detail=True)
        for line in ("ordering: natural", "threads: 1", "max-memory: 1G", "refine: none", "entries of the factor: "):
            self.assertIn(line, text)

    def test_wrong_values_of_options_are_errors(self):
        ksp = direct(laplacian(5), "lu", mat_espalier_ordering="", mat_espalier_schedule="clever")
        with self.assertRaises(PETSc.Error):
            ksp.setUp()

    def test_a_solution_above_the_tolerance_is_not_passed_off_as_one(self):
        matrix = laplacian(17, convection=0.4)
        b = right_hand_side(matrix)
        x = b.duplicate()
        direct(matrix, "lu", mat_espalier_tolerance="1e-30").solve(b, x)
        self.assertEqual(x.norm(), float("inf"))
        with self.assertRaises(PETSc.Error):
            direct(matrix, "lu", mat_espalier_tolerance="1e-30", ksp_error_if_not_converged=True).solve(b, x)
        direct(matrix, "lu", mat_espalier_tolerance="1e-30", mat_espalier_refine="none").solve(b, x)
        self.assertLess(residual(matrix, x, b), 1e-12)

    def test_view_describes_the_factorization_and_the_last_solve(self):
        text = view(self.check(laplacian(17), "cholesky"))
        for line in ("Espalier ", "factorization: llh", "pivots replaced: 0", "last solve: ok", "backward error: "):
            self.assertIn(line, text)

    def test_incomplete_factors_precondition(self):
        for kind, outer, matrix in (("ilu", "gmres", laplacian(40, convection=0.4)), ("icc", "cg", laplacian(40))):
            counts = []
            for levels in (0, 3):
                ksp = direct(matrix, kind, pc_factor_levels=levels)
                ksp.setType(outer)
                ksp.setTolerances(rtol=1e-9)
                b = right_hand_side(matrix)
                x = b.duplicate()
                ksp.solve(b, x)
                self.assertGreater(ksp.getConvergedReason(), 0)
                self.assertLess(residual(matrix, x, b), 1e-7)
                counts.append(ksp.getIterationNumber())
            self.assertLess(counts[1], counts[0], kind)
            self.assertGreater(counts[1], 1)


class Results(unittest.TestCase):
    def test_inertia_counts_eigenvalues_below_a_shift(self):
        # Eigenvalues of the Laplacian are 4 - 2 cos(i h) - 2 cos(j h).
        from math import cos, pi

        width, shift = 13, 2.5
        h = pi / (width + 1)
        below = sum(4 - 2 * cos(i * h) - 2 * cos(j * h) < shift
                    for i in range(1, width + 1) for j in range(1, width + 1))
        for kind in ("aij", "sbaij"):
            ksp = direct(laplacian(width, kind=kind, shift=shift), "cholesky")
            ksp.setUp()
            self.assertEqual(ksp.getPC().getFactorMatrix().getInertia(), (below, 0, width * width - below))

    def test_the_other_solvers_of_petsc_are_still_there(self):
        for solver in ("petsc", "mumps") if ALONE else ("mumps", "superlu_dist"):
            matrix = laplacian(9)
            b = right_hand_side(matrix)
            x = b.duplicate()
            direct(matrix, "lu", solver).solve(b, x)
            self.assertLess(residual(matrix, x, b), 1e-12)

    def test_a_singular_matrix_makes_the_ksp_diverge(self):
        matrix = laplacian(6)
        matrix.setOption(PETSc.Mat.Option.KEEP_NONZERO_PATTERN, True)
        matrix.zeroRowsColumns([7], diag=0.0)
        for kind in ("lu", "cholesky"):
            ksp = direct(matrix, kind)
            b = right_hand_side(matrix)
            ksp.solve(b, b.duplicate())
            self.assertEqual(ksp.getConvergedReason(), PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED)
            strict = direct(matrix, kind, ksp_error_if_not_converged=True)
            with self.assertRaises(PETSc.Error):
                strict.solve(b, b.duplicate())

    def test_an_indefinite_matrix_declared_positive_definite_is_refused(self):
        matrix = laplacian(13, shift=2.5)
        matrix.setOption(PETSc.Mat.Option.SPD, True)
        ksp = direct(matrix, "cholesky")
        b = right_hand_side(matrix)
        ksp.solve(b, b.duplicate())
        self.assertEqual(ksp.getConvergedReason(), PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED)

    @unittest.skipUnless(ALONE, "Schur complements are available on one process")
    def test_schur_complement(self):
        matrix, kept = laplacian(9, convection=0.4), [40, 3, 77]
        pc = PETSc.PC().create()
        pc.setOperators(matrix)
        pc.setType("lu")
        pc.setFactorSolverType("espalier")
        pc.setFactorSetUpSolverType()
        factor = pc.getFactorMatrix()
        # petsc4py does not wrap these functions.
        unknowns, schur = PETSc.IS().createGeneral(kept), PETSc.Mat()
        call("MatFactorSetSchurIS", factor, unknowns)
        pc.setUp()
        call("MatFactorGetSchurComplement", factor, ctypes.byref(handle := ctypes.c_void_p()), None)
        schur.createDense([3, 3])
        schur.setUp()
        call("MatCopy", handle, schur, 0)

        dense = matrix.copy().convert("dense").getDenseArray()
        others = [k for k in range(81) if k not in kept]
        reference = dense[np.ix_(kept, kept)] - dense[np.ix_(kept, others)] @ np.linalg.solve(
            dense[np.ix_(others, others)], dense[np.ix_(others, kept)])
        np.testing.assert_allclose(schur.getDenseArray(), reference, atol=1e-13)
        b = right_hand_side(matrix)
        x = b.duplicate()
        pc.apply(b, x)
        self.assertLess(residual(matrix, x, b), 1e-12)
        pc.applyTranspose(b, x)
        self.assertLess(residual(matrix, x, b, transposed=True), 1e-12)
        fill(matrix, 9, convection=0.2, shift=-1.0)
        pc.setUp()
        pc.apply(b, x)
        self.assertLess(residual(matrix, x, b), 1e-12)

    @unittest.skipUnless(ALONE, "the launcher ends all processes")
    def test_an_interrupt_ends_a_factorization(self):
        line = sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(60, 60))
        grid = sparse.kronsum(line, sparse.kronsum(line, line), format="csr")  # which takes more than 200 Gflop
        matrix = PETSc.Mat().createAIJ(grid.shape, csr=(grid.indptr, grid.indices, grid.data))
        PETSc.Options()["mat_espalier_threads"] = 2  # the time is the sum over all threads
        self.addCleanup(PETSc.Options().delValue, "mat_espalier_threads")
        ksp = direct(matrix, "lu")
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        begin = time.process_time()
        self.assertRaises(KeyboardInterrupt, ksp.setUp)
        self.assertLess(time.process_time() - begin, 2)


def call(name, *arguments):
    """Calls a function of the PETSc that this process has loaded."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "libpetsc" in line)
    handles = [ctypes.c_void_p(item.handle) if isinstance(item, PETSc.Object) else item for item in arguments]
    if getattr(ctypes.CDLL(path), name)(*handles) != 0:
        raise RuntimeError(f"{name} failed")


if __name__ == "__main__":
    unittest.main(verbosity=0)
