"""Several processes: one speaks, and all end with the same code."""

import json
import os
import subprocess
import unittest

from support import COMMAND, IO_ERROR, USAGE, CommandTest

LAUNCHER = os.environ.get("ESPALIER_MPIEXEC", "")
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@unittest.skipUnless(LAUNCHER, "this build has no MPI")
class Processes(CommandTest):
    def launch(self, *arguments):
        return subprocess.run([LAUNCHER, "--oversubscribe", "-n", "2", COMMAND, *arguments], capture_output=True,
                              text=True, cwd=self.folder, timeout=120, env=os.environ | ALLOWED)

    def test_solve_together(self):
        done = self.launch("solve", "lap3d:8", "--threads", "2", "--json", "r.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual((report["status"], report["processes"], report["settings"]["comm_threads"]), ("ok", 2, 1))
        self.assertGreater(report["factor"]["messages"], 0)
        self.assertEqual(done.stdout.count("backward error"), 1)

    def test_fail_together(self):
        done = self.launch("solve", "nofile.mtx")
        self.assertEqual((done.returncode, done.stderr.count("espalier: error:")), (IO_ERROR, 1))

    def test_misuse_is_told_once(self):
        done = self.launch("solve")
        self.assertEqual((done.returncode, done.stderr.count("espalier: error:")), (USAGE, 1))

    def test_version_is_told_once(self):
        done = self.launch("--version")
        self.assertEqual((done.returncode, done.stdout.count("espalier")), (0, 1))


if __name__ == "__main__":
    unittest.main()
