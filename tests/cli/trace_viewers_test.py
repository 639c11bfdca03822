"""Other programs open our traces: ViTE without an error, pj_dump (of pajeng) with the numbers that we find ourselves.

Both are looked for on the path and in build/viewers, where tools/install-packages unpacks them. Without them the tests
are skipped, or fail where ESPALIER_REQUIRE_VIEWERS is set, as tools/check does.
"""

import collections
import os
import shutil
import subprocess
import unittest
import xml.etree.ElementTree
from pathlib import Path

from processes_test import ENVIRONMENT, LAUNCHER
from support import CommandTest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/tools/traces/golden/small.paje"
UNPACKED = ROOT / "build/viewers"


class Viewers(CommandTest):
    def view(self, tool, *arguments):
        """Runs a viewer and returns the completed process."""
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
        path = shutil.which(tool)
        if not path and (UNPACKED / "usr/bin" / tool).exists():
            path = UNPACKED / "usr/bin" / tool
            libraries = [str(folder) for folder in (UNPACKED / "usr/lib").glob("*-linux-gnu")]
            environment["LD_LIBRARY_PATH"] = ":".join(libraries + os.environ.get("LD_LIBRARY_PATH", "").split(":"))
        if not path:
            missing = f"there is no {tool}: run tools/install-packages test"
            if os.environ.get("ESPALIER_REQUIRE_VIEWERS"):
                self.fail(missing)
            self.skipTest(missing)
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              timeout=120, stdin=subprocess.DEVNULL, env=environment)

    def expect_accepted(self, trace):
        done = self.view("pj_dump", "-q", trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        # The exit code of ViTE is 0 whatever happens.
        done = self.view("vite", trace, "-e", "vite.svg")
        self.assertIn("0 errors and 0 warnings", done.stdout + done.stderr)
        xml.etree.ElementTree.parse(self.folder / "vite.svg")

    def expect_same_numbers(self, trace):
        """The states and links that pj_dump finds."""
        found = self.report("trace", trace, "--phase", "all")
        times, links = collections.Counter(), 0
        for line in self.view("pj_dump", trace).stdout.splitlines():
            fields = [field.strip() for field in line.split(",")]
            if fields[0] == "State" and fields[2] == "State":
                times[fields[7]] += round(float(fields[5]) * 1000)
            links += fields[0] == "Link" and fields[2] == "Message"
        times.pop("none", None)
        self.assertEqual(+times, +collections.Counter(
            {name: round(kind["total_s"] * 1e9) for name, kind in found["kinds"].items()}))
        self.assertEqual(links, found["messages"])
        return found

    def test_the_golden_trace(self):
        self.expect_accepted(GOLDEN)
        self.expect_same_numbers(GOLDEN)

    def test_a_file_with_an_error_is_not_accepted(self):
        self.write("wrong.paje", GOLDEN.read_text().replace("9 1.000 S c3 S1", "9 1.000 S c9 S1"))
        self.assertNotEqual(self.view("pj_dump", "-q", "wrong.paje").returncode, 0)
        self.assertNotIn("0 errors", self.view("vite", "wrong.paje", "-e", "vite.svg").stdout)

    def test_a_run_of_two_threads(self):
        self.succeed("solve", "lap3d:12", "--threads", 2, "--trace", "run.paje", "--quiet")
        self.expect_accepted("run.paje")
        found = self.expect_same_numbers("run.paje")
        for kind in ("assemble", "factor", "update", "subtree", "forward", "backward"):
            self.assertIn(kind, found["kinds"])

    @unittest.skipUnless(LAUNCHER, "this build has no MPI")
    def test_a_run_of_three_processes(self):
        for comm_threads in (0, 1):
            self.succeed("solve", "lap3d:12", "--threads", 2, "--comm-threads", comm_threads, "--trace", "run.paje",
                         "--json", "r.json", "--quiet", environment=ENVIRONMENT, launcher=[LAUNCHER, "-n", "3"])
            self.expect_accepted("run.paje")
            found = self.expect_same_numbers("run.paje")
            self.assertEqual({thread["name"] for thread in found["threads"]},
                             {f"P{p}T{t}" for p in range(3) for t in range(2)} |
                             {f"P{p}C{c}" for p in range(3) for c in range(comm_threads)})
            for kind in ("send", "receive", "factor", "forward", "backward"):
                self.assertIn(kind, found["kinds"])
            self.assertEqual((found["unmatched_messages"], found["early_messages"]), (0, 0))
            factor = self.read_json("r.json")["factor"]
            found = self.report("trace", "run.paje")
            self.assertEqual((found["messages"], found["message_bytes"]), (factor["messages"], factor["message_bytes"]))

    def test_a_prediction_for_several_processes_and_nodes(self):
        self.succeed("analyze", "lap3d:12", "--topology", "numa:2 core:2", "--processes", 3, "--threads", 4,
                     "--trace", "predicted.paje", "--quiet")
        self.expect_accepted("predicted.paje")
        found = self.expect_same_numbers("predicted.paje")
        self.assertEqual({thread["node"] for thread in found["threads"]},
                         {f"P{p}N{n}" for p in range(3) for n in range(2)})
        self.assertGreater(found["messages"], 0)
