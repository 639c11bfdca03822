"""`espalier dense`: every policy factorizes, and errors are reported."""

import json
import statistics

from support import INACCURATE, IO_ERROR, USAGE, CommandTest

MACHINE = ("--topology", "numa:2 core:2", "--threads", 4)


class Dense(CommandTest):
    def test_every_policy_factorizes(self):
        for kernel, tasks in (("cholesky", 7 * 8 * 9 // 6), ("qr", 7 * 8 * 15 // 6)):
            for schedule in ("static", "dynamic", "places", "nas"):
                with self.subTest(kernel=kernel, schedule=schedule):
                    found = self.report("dense", "--kernel", kernel, "--n", 100, "--tile", 16, "--repeat", 2,
                                        "--schedule", schedule, *MACHINE)
                    self.assertEqual((found["tasks"], found["threads"], found["numa_nodes"], found["status"]),
                                     (tasks, 4, 2, "ok"))
                    self.assertEqual(sum(worker["tasks"] for worker in found["workers"]), tasks)
                    self.assertEqual(sum(found["steals_by_distance"]), found["steals"])
                    self.assertEqual(found["settings"]["schedule"], schedule)
                    self.assertEqual(len(found["times_s"]), 2)
                    self.assertAlmostEqual(found["time_s"], statistics.median(found["times_s"]), delta=1e-12)
                    self.assertAlmostEqual(found["gflops"] * found["time_s"] * 1e9 / found["flops"], 1)
                    self.assertLess(found["backward_error"], 1e-14)
                    self.assertEqual(found["orthogonality"] is None, kernel == "cholesky")
                    self.assertEqual(found["predicted_s"] is None, schedule != "static")
                    self.assertLessEqual(found["critical_path_s"], found["work_s"])
                    self.assertTrue(0 <= found["idle"] <= 1)
                    self.assertEqual((found["tiles_of_node"], found["local_share"]), ([], None))
                    if schedule == "static":
                        self.assertEqual(found["steals"], 0)
                        self.assertGreaterEqual(found["predicted_s"], found["critical_path_s"] * 0.999)

    def test_the_nodes_of_tiles_are_reported(self):
        found = self.report("dense", "--n", 100, "--tile", 16, "--repeat", 1, "--schedule", "places", "--threads", 2)
        nodes = len(self.report("machine", "--dgemm-order", 50)["numa_nodes"])
        self.assertEqual(len(found["tiles_of_node"]), nodes)
        if sum(found["tiles_of_node"]) == 28 and nodes == 1: # else the system does not say where pages lie
            self.assertEqual(found["local_share"], 1)

    def test_strategies_of_places(self):
        text = self.succeed("dense", "--n", 40, "--tile", 9, "--schedule", "places", "--push-init", "randnuma",
                            "--push", "pNumaW", "--select", "sRandNuma", "--seed", 7, "--strict", "--alloc", "global",
                            *MACHINE)
        for part in ("order 40, 5 x 5 tiles of 9, 35 tasks", "4 threads on", "2 NUMA nodes, alloc global",
                     "places, randnuma, pNumaW, sRandNuma, strict", "GF/s", "% of dgemm", "|A - L L^T| / |A| ="):
            self.assertIn(part, text)

    def test_simulation(self):
        machine = ("--n", 160, "--tile", 16, "--simulate", "numa:3 core:2", "--rate", 2)
        for kernel, tasks in (("cholesky", 10 * 11 * 12 // 6), ("qr", 10 * 11 * 21 // 6)):
            for schedule in ("static", "dynamic", "places", "nas"):
                with self.subTest(kernel=kernel, schedule=schedule):
                    call = ("dense", "--kernel", kernel, "--schedule", schedule, *machine)
                    found = self.report(*call)
                    self.assertEqual(found, self.report(*call), "a given rate makes it deterministic")
                    self.assertEqual((found["tasks"], found["threads"], found["numa_nodes"], found["simulated"]),
                                     (tasks, 6, 3, True))
                    self.assertEqual((found["kernel_source"], set(found["kernel_gflops"].values())), ("given", {2}))
                    self.assertEqual(sum(worker["tasks"] for worker in found["workers"]), tasks)
                    self.assertEqual(sum(found["steals_by_distance"]), found["steals"])
                    self.assertAlmostEqual(found["gflops"] * found["predicted_s"] * 1e9 / found["flops"], 1)
                    self.assertGreaterEqual(found["predicted_s"], found["critical_path_s"])
                    self.assertGreaterEqual(found["predicted_s"], found["work_s"] / 6)
                    self.assertLess(0, found["local_share"])
                    self.assertLess(found["local_share"], 1)

    def test_simulated_strategies_differ(self):
        times = set()
        for init in ("cyclicnuma", "randnuma"):
            for push in ("pLoc", "pNumaW"):
                found = self.report("dense", "--n", 320, "--tile", 16, "--simulate", "numa:3 core:2", "--rate", 2,
                                    "--schedule", "places", "--push-init", init, "--push", push, "--strict")
                self.assertEqual((found["settings"]["push_init"], found["settings"]["push"]), (init, push))
                times.add(found["predicted_s"])
        self.assertEqual(len(times), 4)
        text = self.succeed("dense", "--n", 64, "--tile", 16, "--simulate", "numa:2 core:2", "--rate", 2.5, "--threads", 3)
        for part in ("3 threads on", "(simulated), 2 NUMA nodes", "2.5 GF/s each, as given", "predicted", "GF/s"):
            self.assertIn(part, text)

    def test_trace_of_a_simulation(self):
        for schedule in ("dynamic", "places"):
            simulated = self.report("dense", "--kernel", "qr", "--n", 64, "--tile", 16, "--simulate", "numa:2 core:2",
                                    "--rate", 1, "--schedule", schedule, "--trace", "run.paje")
            found = self.report("trace", "run.paje")
            self.assertEqual(found["about"]["matrix"], "dense qr 64, tiles of 16")
            self.assertEqual((found["kinds"]["factor"]["states"], found["kinds"]["update"]["states"]), (10, 20))
            window = found["window"]
            self.assertAlmostEqual(window["end_s"] - window["begin_s"], simulated["predicted_s"], delta=2e-9)
            path = found["critical_path"]["tasks"]
            self.assertTrue(path and path[-1] == 29, path)

    def test_simulation_of_this_machine(self):
        found = self.report("dense", "--n", 64, "--tile", 16, "--simulate", "here", "--threads", 1)
        self.assertEqual((found["kernel_source"], found["numa_nodes"], found["local_share"]), ("measured", 1, 1))
        self.assertAlmostEqual(found["predicted_s"] / found["work_s"], 1)

    def test_simulation_of_a_machine_file(self):
        self.write("m.json", json.dumps({"numa_nodes": 2, "cores_per_numa_node": 2, "memory_factors": [[1, 3], [3, 1]]}))
        call = ("dense", "--n", 160, "--tile", 16, "--rate", 2, "--alloc", "global", "--simulate")
        near, far = self.report(*call, "numa:2 core:2"), self.report(*call, "m.json")
        self.assertGreater(far["memory_s"], 2 * near["memory_s"])
        # Eight threads on four cores are not faster than four.
        crowded = self.report(*call, "m.json", "--threads", 8)
        self.assertEqual((crowded["threads"], crowded["cores"], far["cores"]), (8, 4, 4))
        self.assertGreater(crowded["predicted_s"], 0.9 * far["predicted_s"])

    def test_an_error_above_the_tolerance(self):
        message = self.fail_with(INACCURATE, "dense", "--kernel", "qr", "--n", 30, "--tile", 50, "--tolerance", "1e-30",
                                 "--json", "r.json", "--quiet")
        self.assertIn("above the tolerance of 1e-30", message)
        self.assertEqual(self.read_json("r.json")["status"], "inaccurate")

    def test_trace(self):
        self.assertEqual(self.succeed("dense", "--kernel", "qr", "--n", 64, "--tile", 16, "--threads", 2, "--trace",
                                      "run.paje", "--quiet"), "")
        found = self.report("trace", "run.paje")
        self.assertEqual(found["about"]["matrix"], "dense qr 64, tiles of 16")
        self.assertEqual(found["window"]["phase"], "factorization")
        self.assertEqual((found["kinds"]["factor"]["states"], found["kinds"]["update"]["states"]), (10, 20))
        path = found["critical_path"]["tasks"]
        self.assertTrue(path and path[-1] == 29, path)

    def test_misuse(self):
        self.fail_each(USAGE, *((f"dense {options}", part) for options, part in (
            ("--n 0", "--n"), ("--tile big", "--tile"), ("--kernel lu", "cholesky, qr"),
            ("--schedule fifo", "static, dynamic, places, nas"), ("--alloc far", "global, local, interleave"),
            ("--repeat 0", "--repeat"), ("--schedule places --select sNone", "sNumaProc"), ("--split 2d", "--split"),
            ("--tolerance 0", "--tolerance"), ("--n 100000 --tile 10", "larger tiles"), ("lap3d:4", "lap3d:4"),
            ("--json a --trace ./a", "same file"), ("--topology m.json", "espalier simulate --machine"), ("--rate 2", "--simulate"),
            ("--simulate numa:2 --rate 0", "--rate"),
            ("--simulate numa:2 --topology numa:2", "both name a machine"), ("--threads 60000", "--threads"))))
        self.fail_with(IO_ERROR, "dense", "--json", "missing/r.json")
        self.assertEqual(self.names(), [])
