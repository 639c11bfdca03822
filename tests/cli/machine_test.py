"""`espalier machine` tells what the solver sees."""

import os
import unittest

from support import USAGE, CommandTest


class Machine(CommandTest):
    def test_text_names_cores_blas_and_rate(self):
        text = self.succeed("machine", "--dgemm-order", 200)
        for word in ("core", "BLAS", "GF/s"):
            self.assertIn(word, text)

    def test_json(self):
        report = self.report("machine", "--dgemm-order", 300)
        self.assertEqual(report["cores"], sum(len(node["cores"]) for node in report["numa_nodes"]))
        self.assertLessEqual(report["default_threads"], report["cores"])
        self.assertLessEqual(report["cores"], len(os.sched_getaffinity(0)))
        self.assertEqual(report["dgemm"]["order"], 300)
        self.assertAlmostEqual(report["dgemm"]["gflops"] * report["dgemm"]["time_s"], 2 * 300**3 / 1e9)
        self.assertGreater(report["available_memory_bytes"], 1 << 20)

    def test_a_machine_that_is_not_here(self):
        report = self.report("machine", "--dgemm-order", 50,
                             environment={"HWLOC_SYNTHETIC": "package:2 numa:2 core:3 pu:1"})
        self.assertEqual((report["cores"], len(report["numa_nodes"])), (12, 4))

    def test_misuse(self):
        self.fail_with(USAGE, "machine", "--dgemm-order", 0)
        self.fail_with(USAGE, "machine", "here")
        self.assertEqual(self.succeed("machine", "--quiet", "--dgemm-order", 50), "")


if __name__ == "__main__":
    unittest.main()
