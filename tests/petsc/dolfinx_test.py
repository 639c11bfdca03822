"""Unmodified DOLFINx: a Poisson and a Stokes problem, with only options of PETSc added.

The environment has PETSC_OPTIONS="-dll_append .../libespalier_petsc.so"."""

import unittest

import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI

DIRECT = {"ksp_type": "preonly", "pc_factor_mat_solver_type": "espalier"}


class Problems(unittest.TestCase):
    def test_poisson(self):
        """-div grad u = -6 with u = 1 + x^2 + 2 y^2, which quadratic elements represent exactly."""
        domain = mesh.create_unit_square(MPI.COMM_WORLD, 24, 24)
        space = fem.FunctionSpace(domain, ("Lagrange", 2))
        exact = fem.Function(space)
        exact.interpolate(lambda x: 1 + x[0] ** 2 + 2 * x[1] ** 2)
        facets = mesh.locate_entities_boundary(domain, 1, lambda x: np.full(x.shape[1], True))
        boundary = fem.dirichletbc(exact, fem.locate_dofs_topological(space, 1, facets))
        u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
        a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
        right = fem.Constant(domain, -6.0) * v * ufl.dx
        for kind in ("lu", "cholesky"):
            problem = LinearProblem(a, right, bcs=[boundary], petsc_options={**DIRECT, "pc_type": kind})
            found = problem.solve()
            self.assertEqual(problem.solver.getPC().getFactorSolverType(), "espalier")
            self.assertLess(np.abs(found.x.array - exact.x.array).max(), 1e-11)

    def test_stokes_has_zeros_on_the_diagonal(self):
        """Taylor-Hood elements for a flow that they represent exactly: u = (y (1 - y), 0), p = 2 (1 - x)."""
        domain = mesh.create_unit_square(MPI.COMM_WORLD, 12, 12)
        space = fem.FunctionSpace(domain, ufl.MixedElement(ufl.VectorElement("Lagrange", domain.ufl_cell(), 2),
                                                           ufl.FiniteElement("Lagrange", domain.ufl_cell(), 1)))
        velocities, _ = space.sub(0).collapse()
        flow = fem.Function(velocities)
        flow.interpolate(lambda x: np.vstack((x[1] * (1 - x[1]), 0 * x[0])))
        walls = mesh.locate_entities_boundary(domain, 1, lambda x: np.isclose(x[0] * x[1] * (1 - x[1]), 0))
        boundary = fem.dirichletbc(flow, fem.locate_dofs_topological((space.sub(0), velocities), 1, walls),
                                   space.sub(0))
        (u, p), (v, q) = ufl.TrialFunctions(space), ufl.TestFunctions(space)
        a = (ufl.inner(ufl.grad(u), ufl.grad(v)) - p * ufl.div(v) - q * ufl.div(u)) * ufl.dx
        right = ufl.inner(fem.Constant(domain, (0.0, 0.0)), v) * ufl.dx
        problem = LinearProblem(a, right, bcs=[boundary], petsc_options={**DIRECT, "pc_type": "lu"})
        found = problem.solve()
        x = ufl.SpatialCoordinate(domain)
        error = fem.assemble_scalar(fem.form((found.sub(0) - ufl.as_vector((x[1] * (1 - x[1]), 0))) ** 2 * ufl.dx
                                             + (found.sub(1) - 2 * (1 - x[0])) ** 2 * ufl.dx))
        self.assertLess(MPI.COMM_WORLD.allreduce(error) ** 0.5, 1e-10)


if __name__ == "__main__":
    unittest.main(verbosity=0)
