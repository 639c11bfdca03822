"""Several processes, if mpi4py is installed and the package was built with MPI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LAUNCHER = os.environ.get("ESPALIER_MPIEXEC", "")
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}


def launches_mpi4py():
    """Whether the launcher belongs to the MPI of mpi4py. Otherwise each process would run without the others."""
    program = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
    library, launcher = (subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
                         for command in ([sys.executable, "-c", program], [LAUNCHER, "--version"]))
    return ("Open MPI" in library) == ("open-mpi" in launcher)


@pytest.mark.parametrize("processes", [1, 3])
def test_process_0_solves_and_the_others_follow(processes):
    pytest.importorskip("mpi4py")
    if not LAUNCHER:
        pytest.skip("the package was built without MPI")
    if not launches_mpi4py():
        pytest.skip("mpi4py was built with another MPI")
    script = Path(__file__).with_name("processes.py")
    done = subprocess.run([LAUNCHER, "-n", str(processes), sys.executable, "-B", str(script)], capture_output=True,
                          text=True, timeout=60, env=os.environ | ALLOWED, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr
