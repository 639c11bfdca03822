"""`tools/experiments` makes the tables of docs/experiments.md and checks the statements of that page."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from support import COMMAND

ROOT = Path(__file__).resolve().parents[2]


def experiments(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "tools/experiments", "--command", COMMAND, *arguments],
                          capture_output=True, text=True)


class Experiments(unittest.TestCase):
    def test_the_quick_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            done = experiments("--quick", "--pictures", folder, "kastors")
            picture = ElementTree.parse(Path(folder) / "kastors.svg").getroot()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("\n| pNumaW | "), 6, "six selections")
        self.assertEqual(done.stdout.count("| 8192 | 224 | "), 2, "two kernels beside the paper's numbers")
        self.assertEqual(done.stdout.count(": holds"), 6)
        dots = [dot for dot in picture.iter("{http://www.w3.org/2000/svg}circle") if dot.get("class") == "dot"]
        self.assertEqual(len(dots), 96)
        for dot in dots:
            self.assertTrue(0 < float(dot.get("cx")) < float(picture.get("width")), dot.attrib)

    def test_communication_threads(self):
        done = experiments("--quick", "comm-threads")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("\n| lap3d:30 | "), 4, "two numbers of processes and of threads")
        self.assertEqual(done.stdout.count(": holds"), 3)

    def test_numa_factors_of_the_model(self):
        with tempfile.TemporaryDirectory() as folder:
            done = experiments("--data", folder, "factors")
            data = json.loads((Path(folder) / "factors.json").read_text())
        self.assertEqual(len(data["runs"]), len(data["machines"]))
        self.assertEqual(data["runs"][0]["command"], "espalier machine --simulate NUMA16.json")
        self.assertEqual({len(run["report"]["numa_factors"]["kernels"]) for run in data["runs"]}, {2})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count(" | dgemm | "), 3, "three machines")
        self.assertEqual(done.stdout.count(": holds"), 3)

    def test_computers_with_several_numa_nodes(self):
        done = experiments("--quick", "numa")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("\n| NUMA16 | "), 2, "two matrices")
        self.assertEqual(done.stdout.count(": holds"), 3)

    def test_automatic_schedules(self):
        done = experiments("--quick", "auto")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("\n| lap3d:30 | 4 x 16 | "), 1)
        self.assertEqual(done.stdout.count(": holds"), 4)

    def test_coarse_strings_of_incomplete_factors(self):
        done = experiments("--quick", "taggre")
        if "does not have the runtime" in done.stderr:
            self.skipTest("this build lacks oneTBB or OpenMP")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("\n| lap3d:24 | natural | 0 | "), 9, "two by 1 and 2 threads, two machines; one")
        self.assertEqual(done.stdout.count(": holds"), 3)

    def test_misuse(self):
        done = experiments("table9")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no table 'table9'", done.stderr)
        done = experiments("--quick", "large")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no quick version", done.stderr)
