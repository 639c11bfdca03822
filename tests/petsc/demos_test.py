"""Programs of PETSc and DOLFINx, as Debian has them, solve with Espalier when an option says so.

The environment has PETSC_OPTIONS="-dll_append .../libespalier_petsc.so"."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

MPIEXEC = os.environ["ESPALIER_MPIEXEC"]
CMAKE = os.environ["CMAKE_COMMAND"]
EXAMPLE = next(Path("/usr/share/petsc").glob("*/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c"), None)
DEMO = Path("/usr/share/dolfinx/demo-real/poisson")


def run(*words, directory):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=directory)
    if done.returncode != 0:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def solve(self, program, kind, processes, *options):
        """Runs a program and returns its output, which says that Espalier was used."""
        out = run(MPIEXEC, "-n", processes, program, "-pc_type", kind, "-pc_factor_mat_solver_type", "espalier",
                  "-ksp_view", *options, directory=self.folder)
        self.assertIn("package used to perform factorization: espalier", out)
        self.assertIn("last solve: ok", out)
        return out

    @unittest.skipUnless(EXAMPLE, "the examples of PETSc are not installed")
    def test_an_example_of_petsc(self):
        flags = run("pkg-config", "--cflags", "--libs", "PETSc", directory=self.folder).split()
        run("mpicc", EXAMPLE, "-o", "example", *flags, "-lm", directory=self.folder)
        for kind in ("lu", "cholesky"):
            for processes in (1, 2):
                out = self.solve("./example", kind, processes, "-m", "40", "-n", "30", "-ksp_type", "preonly")
                self.assertLess(float(re.search(r"Norm of error (\S+)", out)[1]), 1e-11)

    @unittest.skipUnless(DEMO.exists(), "the demos of DOLFINx are not installed")
    def test_a_demo_of_dolfinx(self):
        run(CMAKE, "-S", DEMO, "-B", "demo", "-G", "Ninja", directory=self.folder)
        run(CMAKE, "--build", "demo", directory=self.folder)
        for processes in (1, 2):
            self.solve("demo/demo_poisson", "lu", processes)


if __name__ == "__main__":
    unittest.main(verbosity=0)
