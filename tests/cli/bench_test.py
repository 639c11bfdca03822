"""`tools/bench` measures Espalier, alone and beside other solvers."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import COMMAND

ROOT = Path(__file__).resolve().parents[2]

# A solver that checks its arguments and takes a second for everything.
PEER = """#!{python}
import json, pathlib, sys
matrix, *options = sys.argv[1:]
assert pathlib.Path(matrix).read_text().startswith("%%MatrixMarket"), matrix
assert options[0::2] == ["--sym", "--threads"], options
kind, threads = options[1::2]
accepts = {accepts}
if kind not in accepts:
    print(json.dumps({{"error": "only " + " ".join(accepts)}}))
    sys.exit(1)
print("a line before the result")
print(json.dumps({{"analyze_s": {seconds}, "factor_s": {seconds}, "solve_s": {seconds}, "flops": 1e6,
                  "peak_rss_mb": 10, "backward_error": 1e-16}}))
"""


def bench(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "tools/bench", "--command", COMMAND, *arguments],
                          capture_output=True, text=True)


def write_peer(folder, name, seconds, accepts):
    path = Path(folder) / f"peer_{name}"
    path.write_text(PEER.format(python=sys.executable, seconds=seconds, accepts=accepts))
    path.chmod(0o755)


class Bench(unittest.TestCase):
    def test_espalier_alone(self):
        done = bench("--matrices", "lap2d:12", "--threads", "1", "--repeat", "1", "--calibration", "off")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("lap2d:12", done.stdout)
        self.assertIn("cost model: default", done.stdout)

    def test_beside_other_solvers(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "bin").mkdir()
            write_peer(f"{folder}/bin", "slow", 9, ["spd", "unsym"])
            write_peer(f"{folder}/bin", "fast", 1, ["spd"])
            out = Path(folder) / "all.json"
            done = bench("--peers", folder, "--matrices", "lap2d:12", "convdiff3d:3:lu", "--threads", "1", "2",
                         "--repeat", "1", "--touch", "0", "--json", out)
            cases = json.loads(out.read_text())["cases"]
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fast leaves out convdiff3d_3.mtx: only spd", done.stderr)
        self.assertEqual([(case["matrix"], case["threads"], sorted(case["solvers"])) for case in cases],
                         [("lap2d:12", 1, ["espalier", "fast", "slow"]), ("lap2d:12", 2, ["espalier", "fast", "slow"]),
                          ("convdiff3d:3", 1, ["espalier", "slow"]), ("convdiff3d:3", 2, ["espalier", "slow"])])
        own = cases[0]["solvers"]["espalier"]
        self.assertAlmostEqual(own["total"], own["analysis"] + own["factor"] + own["solve"])
        self.assertEqual(cases[0]["solvers"]["slow"]["total"], 27)
        lines = done.stdout.splitlines()
        [_, ratio] = [line for line in lines if line.startswith("| lap2d:12 | 2 | fast | ")]
        self.assertEqual(ratio.split(" | ")[3], f"{cases[1]['solvers']['espalier']['total'] / 3:.2f}")
        self.assertEqual(sum(line.startswith("| geometric mean | ") for line in lines), 2)

    def test_a_folder_without_solvers(self):
        with tempfile.TemporaryDirectory() as folder:
            done = bench("--peers", folder, "--matrices", "lap2d:12")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"bench: no executable peer_NAME in {folder} or {folder}/bin\n")


if __name__ == "__main__":
    unittest.main()
