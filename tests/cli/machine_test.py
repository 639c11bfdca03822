"""`espalier machine` shows the machine as the solver sees it."""

import json
import os
import unittest
from xml.etree import ElementTree

from support import IO_ERROR, USAGE, CommandTest


class Machine(CommandTest):
    def test_json(self):
        report = self.report("machine", "--dgemm-order", 300)
        self.assertEqual(report["cores"], sum(len(node["cores"]) for node in report["numa_nodes"]))
        self.assertLessEqual(report["default_threads"], report["cores"])
        self.assertLessEqual(report["cores"], len(os.sched_getaffinity(0)))
        self.assertEqual(report["dgemm"]["order"], 300)
        self.assertAlmostEqual(report["dgemm"]["gflops"] * report["dgemm"]["time_s"], 2 * 300**3 / 1e9)
        self.assertGreater(report["available_memory_bytes"], 1 << 20)
        self.assertIsNone(report["roofline"])

    def test_a_machine_that_is_not_here(self):
        report = self.report("machine", "--dgemm-order", 50,
                             environment={"HWLOC_SYNTHETIC": "package:2 numa:2 core:3 pu:1"})
        self.assertEqual((report["cores"], len(report["numa_nodes"])), (12, 4))
        self.assertIsNone(report["numa_factors"])
        named = self.report("machine", "--dgemm-order", 50, "--topology", "package:2 numa:2 core:3")
        self.assertEqual(named["numa_nodes"], report["numa_nodes"])
        self.assertIsNone(named["numa_factors"])
        text = self.succeed("machine", "--dgemm-order", 50, "--topology", "numa:2 core:3")
        self.assertIn("NUMA factors not measured", text)

    def test_numa_factors_as_text_json_and_picture(self):
        text = self.succeed("machine", "--dgemm-order", 50, "--json", "m.json", "--picture", "factors.png")
        self.assertRegex(text, r"daxpy on 128x128 blocks, 1 = [\d.]+ us")
        for word in ("core", "BLAS", "GF/s"):
            self.assertIn(word, text)
        self.assertTrue((self.folder / "factors.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n"))
        report = self.read_json("m.json")
        factors, nodes = report["numa_factors"], len(report["numa_nodes"])
        self.assertLessEqual(len(factors["cores"]), report["cores"])
        self.assertEqual([kernel["kernel"] for kernel in factors["kernels"]], ["daxpy", "dgemm"])
        for kernel in factors["kernels"]:
            self.assertGreater(kernel["unit_s"], 0)
            self.assertEqual([len(row) for row in kernel["alone"]], [nodes] * len(factors["cores"]))
            self.assertEqual(min(map(min, kernel["alone"])), 1)
            for times in kernel["all_cores"].values():
                self.assertEqual(len(times), len(factors["cores"]))
                self.assertGreater(min(times), 0)

    def test_picture_as_svg(self):
        self.assertEqual(self.succeed("machine", "--quiet", "--dgemm-order", 50, "--picture", "factors.svg"), "")
        picture = ElementTree.parse(self.folder / "factors.svg").getroot()
        texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
        for word in ("daxpy", "dgemm", "data on NUMA node", "node 0", "core", "local", "farthest"):
            self.assertIn(word, texts)

    def test_factors_of_a_model(self):
        self.write("m.json", json.dumps({"numa_nodes": 2, "cores_per_numa_node": 2, "core_bytes_per_s": 4e9,
                                         "numa_node_bytes_per_s": 6e9, "memory_factors": [[1, 1.25], [1.25, 1]],
                                         "stream_factors": [[1, 2], [2, 1]], "speed": 0.05}))
        daxpy, dgemm = self.report("machine", "--simulate", "m.json")["numa_factors"]["kernels"]
        self.assertEqual(daxpy["alone"], [[1, 2], [2, 1]])
        self.assertEqual(dgemm["alone"], [[1, 1.25], [1.25, 1]])
        self.assertAlmostEqual(daxpy["unit_s"], 3 * 128 * 128 * 8 / 4e9)
        for kind, factor in (("local", 8 / 6), ("one_node", 16 / 6), ("worst", 2)):
            self.assertAlmostEqual(daxpy["all_cores"][kind][1], factor)
        self.assertEqual(dgemm["all_cores"]["local"], [1, 1])
        text = self.succeed("machine", "--simulate", "m.json")
        self.assertRegex(text, r"core 2 +2.00 +1.00 +1.33 +2.67 +2.00\n")

    @unittest.skipIf(os.environ.get("ESPALIER_SANITIZE"), "takes long without optimization")
    def test_roofline(self):
        text = self.succeed("machine", "--dgemm-order", 50, "--roofline", "--json", "m.json")
        self.assertRegex(text, r"roofline +GF/s of one core")
        self.assertRegex(text, r"width +update +gemm +solve +diagonal\n")
        roofline = self.read_json("m.json")["roofline"]
        self.assertGreater(roofline["bytes_per_s"], 0)
        self.assertEqual(list(roofline["scalars"]), ["d", "z"])
        for name, scale, size in (("d", 1, 8), ("z", 4, 16)):
            scalar = roofline["scalars"][name]
            widths = scalar["widths"]
            self.assertEqual([row["width"] for row in widths], sorted(row["width"] for row in widths))
            for kernel in ("update", "gemm", "solve", "diagonal"):
                roofs = [row[kernel]["roof_gflops"] for row in widths]
                self.assertEqual(roofs, sorted(roofs))
                for row in widths:
                    self.assertGreater(row[kernel]["gflops"], 0)
            for row in widths:
                m, w = row["rows"], row["width"]
                flops, moved = 2 * scale * m * w * w, size * (3 * m * w + w * w)
                roof = min(scalar["best_gflops"], flops / moved * roofline["bytes_per_s"] / 1e9)
                self.assertAlmostEqual(row["update"]["roof_gflops"], roof, delta=1e-6 * roof)

    def test_solve_tells_where_memory_would_be(self):
        shares = {}
        for alloc in ("global", "local", "interleave"):
            text = self.succeed("solve", "lap3d:12", "--topology", "numa:4 core:2", "--threads", 8, "--alloc", alloc,
                                "--json", "s.json")
            self.assertRegex(text, r"memory +[\d.]+ [KM]iB on 4 NUMA nodes, \d+ % of the bytes that tasks touched")
            factor = self.read_json("s.json")["factor"]
            self.assertEqual((len(factor["node_bytes"]), len(factor["local_share_of_worker"])), (4, 8))
            shares[alloc] = factor["local_share"]
            if alloc == "global":
                self.assertEqual(factor["node_bytes"][1:], [0, 0, 0])
                self.assertLessEqual(set(factor["local_share_of_worker"][2:]), {0, None})
        self.assertGreater(shares["local"], shares["interleave"])
        self.assertNotIn("NUMA nodes", self.succeed("solve", "lap3d:5", "--topology", "core:2"))

    def test_misuse(self):
        self.fail_each(USAGE, ("machine --dgemm-order 0",), ("machine here",),
                       ("machine --topology 'two sockets'", "TYPE:COUNT"),
                       ("machine --calibrate --topology 'numa:2 core:2'", "--topology"),
                       ("machine --picture a.png --topology numa:2", "only on this machine"),
                       ("machine --simulate numa:2 --picture a.png", "--picture"),
                       ("machine --roofline --topology numa:2", "--roofline"),
                       ("machine --roofline --simulate numa:2", "--roofline"),
                       ("machine --simulate numa:2 --calibrate", "--calibrate"),
                       ("machine --picture a.jpg", ".svg or .png"),
                       ("machine --picture ./a.svg --json ./a.svg", "both name"))
        self.fail_with(IO_ERROR, "machine", "--topology", "missing.xml")
        self.assertEqual(self.names(), [])
