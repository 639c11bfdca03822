"""Several processes: one speaks, and all end with the same code."""

import os
import subprocess
import unittest

from support import COMMAND, UNSUPPORTED, USAGE, CommandTest

LAUNCHER = os.environ.get("ESPALIER_MPIEXEC", "")
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@unittest.skipUnless(LAUNCHER, "this build has no MPI")
class Processes(CommandTest):
    def launch(self, *arguments):
        return subprocess.run([LAUNCHER, "--oversubscribe", "-n", "2", COMMAND, *arguments], capture_output=True,
                              text=True, cwd=self.folder, timeout=120, env=os.environ | ALLOWED)

    def test_are_refused_in_one_line(self):
        done = self.launch("solve", "lap3d:4", "--json", "r.json")
        lines = [line for line in done.stderr.splitlines() if line.startswith("espalier: error:")]
        self.assertEqual(lines, ["espalier: error: running on several processes is not available in this version; "
                                 "start without mpirun"])
        self.assertEqual((done.returncode, done.stdout, self.names()), (UNSUPPORTED, "", []))

    def test_misuse_is_told_once(self):
        done = self.launch("solve")
        self.assertEqual((done.returncode, done.stderr.count("espalier: error:")), (USAGE, 1))

    def test_version_is_told_once(self):
        done = self.launch("--version")
        self.assertEqual((done.returncode, done.stdout.count("espalier")), (0, 1))


if __name__ == "__main__":
    unittest.main()
