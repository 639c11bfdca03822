"""`espalier simulate` runs the policies in virtual time on machines that are not available."""

import json
import re

from support import BAD_INPUT, IO_ERROR, USAGE, CommandTest

MATRIX = ["lap3d:9", "--calibration", "off"]
TWO_NODES = {"name": "two nodes", "numa_nodes": 2, "cores_per_numa_node": 3, "memory_factors": [[1, 1.5], [1.5, 1]]}


class Simulate(CommandTest):
    def simulate(self, *options):
        return self.report("simulate", *MATRIX, *options)

    def machine(self, description, name="m.json"):
        return self.write(name, json.dumps(description))

    def test_every_policy_and_split(self):
        for schedule in ("static", "dynamic", "places", "nas"):
            for split in ("1d", "2d", "dynamic"):
                report = self.simulate("--machine", "numa:2 core:4", "--processes", 2, "--schedule", schedule, "--split",
                                       split, "--split-width", 16, "--split-rows", 16)
                prediction = report["prediction"]
                self.assertEqual((prediction["processes"], prediction["threads"], len(prediction["idle_s"])), (2, 8, 16))
                self.assertGreaterEqual(prediction["factor_s"], prediction["critical_path_s"] * (1 - 1e-9))
                self.assertGreater(prediction["messages"], 0)
                self.assertTrue(0 < prediction["solve_s"] < prediction["factor_s"])
                self.assertTrue(0 < prediction["local_share"] <= 1)
                self.assertEqual(sum(prediction["steals_by_distance"]), prediction["steals"])
                self.assertEqual(sum(p["steals"] for p in prediction["process"]), prediction["steals"])
                if schedule == "static":
                    self.assertEqual(prediction["steals"], 0)

    def test_the_plans_of_several_processes_are_measured(self):
        alone, few, many = (self.simulate("--machine", "core:2", "--processes", p)["prediction"] for p in (1, 4, 16))
        self.assertEqual((alone["plans_s"], alone["process"][0]["plan_bytes"]), (0, 0))
        for prediction in (few, many):
            self.assertGreater(prediction["plans_s"], 0)
            for process in prediction["process"]:
                self.assertGreater(process["plan_bytes"], 0)
                self.assertGreater(process["memory_bytes"], process["plan_bytes"] + process["fan_in_bytes"])
        largest = [max(process["plan_bytes"] for process in p["process"]) for p in (few, many)]
        self.assertLess(largest[1], largest[0])
        text = self.succeed("simulate", *MATRIX, "--machine", "core:2", "--processes", 4)
        self.assertRegex(text, r"plans +per process: [\d.]+ KiB to [\d.]+ KiB, .*; [\d.]+ KiB in total, divided in ")

    def test_a_splitting_without_effect_on_the_simulated_machine_is_noted(self):
        def notes(cores, split, *options):
            asked = ["--machine", f"core:{cores}", "--split", split, "--split-width", 24, "--split-rows", 8, *options]
            return [note for note in self.simulate(*asked)["notes"] if "has no effect" in note]

        narrow, wide = ["--max-block-width", 16], ["--max-block-width", 64]
        for split in ("2d", "dynamic"):
            self.assertIn(f"split {split} has no effect with 4 threads", notes(4, split, *narrow, "--schedule", "nas")[0])
            self.assertEqual(notes(4, split, *wide, "--schedule", "nas"), [])
            self.assertEqual(notes(1, split, *wide), [f"split {split} has no effect with one thread"])
        self.assertIn("static schedule", notes(4, "dynamic", *wide)[0])
        self.assertEqual(notes(4, "2d", *wide), [])

    def test_the_structure_and_the_memory_are_those_of_the_simulated_machine(self):
        base = ["lap3d:20", "--calibration", "off"]
        here = self.report("analyze", *base, "--threads", 1)["analysis"]
        for processes, machine in ((1, "core:16"), (4, "core:16")):
            asked = ["simulate", *base, "--machine", machine, "--processes", processes]
            report = self.report(*asked)
            analysis, of_processes = report["analysis"], report["prediction"]["process"]
            self.assertNotEqual(analysis["cblks"], here["cblks"])
            self.assertEqual(sum(process["cblks"] for process in of_processes), analysis["cblks"])
            memory = analysis["memory_bytes_of_process"]
            self.assertEqual(len(memory), processes)
            self.assertEqual(max(memory), analysis["memory_bytes"])
            for process, of_all in zip(of_processes, memory):
                self.assertGreater(of_all, process["memory_bytes"])
            predicted = self.report("analyze", *base, "--processes", processes, "--threads", 16)["analysis"]
            for name in ("cblks", "bloks", "tree_depth", "nnz_stored"):
                self.assertEqual(predicted[name], analysis[name], name)
            text = self.succeed(*asked)
            self.assertRegex(text, rf"structure +[\d,]+ supernodes, {analysis['cblks']:,} column blocks")
        self.assertRegex(text, r"memory +[\d.]+ MiB for the factorization on all processes, at most [\d.]+ MiB on one, ")

    def test_the_text_says_how_many_tasks_are_divided(self):
        asked = ["simulate", "elast3d:16", "--calibration", "off", "--machine", "core:16", "--schedule", "dynamic", "--split"]
        found = self.report(*asked, "dynamic")["prediction"]
        self.assertGreater(found["tasks_divided"], 0)
        self.assertRegex(self.succeed(*asked, "dynamic"), rf"divided +{found['tasks_divided']} of {found['tasks']} tasks")
        self.assertNotRegex(self.succeed(*asked, "1d"), "divided +[0-9]")

    def test_automatic_schedules_say_what_they_chose_and_expect(self):
        asked = ["--machine", "numa:2 core:4", "--processes", 2, "--threads", 8, "--schedule"]
        chosen, given = (self.simulate(*asked, schedule) for schedule in ("auto", "static"))
        settings = chosen["settings"]
        self.assertEqual((settings["schedule"], given["settings"]["schedule_chosen"]), ("auto", "static"))
        self.assertIn(settings["schedule_chosen"], ("static", "dynamic", "places", "nas"))
        self.assertIn(settings["split_chosen"], ("1d", "2d", "dynamic"))
        self.assertLessEqual(settings["narrowest_block"], settings["widest_block"])
        self.assertEqual(settings["schedule_expected_s"], chosen["prediction"]["factor_s"])
        self.assertEqual(settings["schedule_default_s"], given["prediction"]["factor_s"])
        self.assertLessEqual(settings["schedule_expected_s"], settings["schedule_default_s"])
        self.assertGreater(settings["schedules_tried"], 3)
        self.assertIsNone(given["settings"]["schedule_expected_s"])
        text = self.succeed("simulate", *MATRIX, *asked, "auto")
        self.assertRegex(text, r"schedule +\w+, split \w+, column blocks of at most [\d to]+ columns: .* expected, "
                               r".* with the defaults  \(\d+ schedules tried")

    def test_automatic_schedules_choose_the_number_of_processes_on_a_machine(self):
        network = {"latency_s": 0, "bytes_per_s": 1e12, "overhead_s": 0}
        far = self.machine({"numa_nodes": 2, "cores_per_numa_node": 3, "memory_factors": [[1, 9], [9, 1]],
                            "network": network})
        asked = ["--machine", far, "--alloc", "global", "--schedule", "auto"]
        prediction = self.simulate(*asked)["prediction"]
        self.assertEqual((prediction["processes"], prediction["threads"]), (2, 3))
        fixed = self.simulate(*asked, "--threads", 6)["prediction"]
        self.assertEqual((fixed["processes"], fixed["threads"]), (1, 6))
        self.assertLess(prediction["factor_s"], fixed["factor_s"])

    def test_placement_and_speed_of_a_machine_file(self):
        fast = self.machine(TWO_NODES | {"speed": 2.0}, "fast.json")
        machine = self.machine(TWO_NODES)
        of = {alloc: self.simulate("--machine", machine, "--alloc", alloc)["prediction"]
              for alloc in ("local", "global", "interleave")}
        self.assertGreater(of["local"]["local_share"], of["interleave"]["local_share"])
        self.assertAlmostEqual(of["interleave"]["local_share"], 0.5)
        self.assertGreater(of["global"]["memory_s"], of["local"]["memory_s"])
        self.assertAlmostEqual(self.simulate("--machine", fast)["prediction"]["work_s"] / of["local"]["work_s"], 0.5,
                               delta=0.15)

    def test_a_slower_network_takes_longer(self):
        times = [self.simulate("--processes", 4, "--machine",
                               self.machine(TWO_NODES | {"network": {"latency_s": latency, "bytes_per_s": 1e9}})
                               )["prediction"]["factor_s"] for latency in (0, 0.1)]
        self.assertGreater(times[1], times[0] + 0.1)

    def test_the_machine_command_describes_a_machine_to_simulate(self):
        self.succeed("machine", "--quiet", "--json", "this.json", "--dgemm-order", 50)
        cores = self.read_json("this.json")["cores"]
        self.assertEqual(self.simulate("--machine", "this.json")["prediction"]["threads"], cores)
        self.assertEqual(self.simulate()["prediction"]["threads"], cores)

    def test_trace_of_the_simulated_run(self):
        self.simulate("--machine", "numa:2 core:4", "--schedule", "dynamic", "--trace", "run.paje")
        numbers = json.loads(self.succeed("trace", "run.paje", "--json", "-"))
        self.assertEqual(len(numbers["threads"]), 8)
        text = (self.folder / "run.paje").read_text()
        self.assertRegex(text, r'schedule = dynamic')
        self.assertRegex(text, r'machine = synthetic')

    def test_text_tells_steals_and_locality(self):
        text = self.succeed("simulate", *MATRIX, "--machine", "numa:2 core:4", "--schedule", "dynamic")
        self.assertRegex(text, r"steals +[\d,]+ task")
        self.assertRegex(text, r"locality +\d+ % of the bytes")
        self.assertTrue(re.search(r"machine +numa:2 core:4; simulated in", text))

    def test_very_many_numa_nodes_are_refused(self):
        for machine in (self.machine({"numa_nodes": 65536, "cores_per_numa_node": 1}), "numa:65536 core:1",
                        self.machine({"topology": "package:64 numa:64 core:1"}, "t.json")):
            done = self.run_command("simulate", *MATRIX, "--machine", machine)
            self.assertIn(done.returncode, (USAGE, BAD_INPUT))
            self.assertIn("1024", done.stderr)

    def test_verbose_tells_the_settings_and_the_simulated_machine(self):
        text = self.succeed("simulate", *MATRIX, "--machine", "numa:2 core:3", "--verbose", "--seed", 5, "--json",
                            "r.json")
        self.assertRegex(text, r"machine +synthetic numa:2 core:3 pu:1 \(simulated\)\n  cores +6, 6 used\n  memory +2 NUMA")
        self.assertRegex(text, r"(?m)^  seed +5$")
        self.assertIn("BLAS", text)
        found = ("factor_path", "narrowest_block", "widest_block", "schedules_tried", "schedule_choice_s")
        for name, value in self.read_json("r.json")["settings"].items():
            if value is not None and not name.endswith(("_asked", "_chosen")) and name not in found:
                self.assertRegex(text, rf"(?m)^  {name.replace('_', '-')} +\S")

    def test_more_threads_than_cores(self):
        call = ("simulate", "lap3d:12", "--machine", "numa:4 core:2", "--calibration", "off", "--processes", 2)
        even = self.report(*call, "--threads", 8)
        self.assertEqual(even["notes"], [note for note in even["notes"] if "share" not in note])
        crowded = self.report(*call, "--threads", 16)
        self.assertEqual(crowded["prediction"]["threads"], 16)
        self.assertIn("the 16 threads of a process share 8 cores: the time of a task is multiplied by the number of tasks "
                      "on its core",
                      crowded["notes"])
        # All threads of a process together are as fast as its cores.
        self.assertGreater(crowded["prediction"]["factor_s"], even["prediction"]["work_s"] / 16)
        self.assertGreater(crowded["prediction"]["memory_s"], 1.5 * even["prediction"]["memory_s"])

    def test_failures(self):
        self.machine(TWO_NODES | {"sped": 2})
        self.machine(TWO_NODES | {"nodes": 2}, "few.json")
        # Machines are checked before the matrix is read.
        self.fail_each(USAGE, *((f"simulate missing.mtx {options}", part) for options, part in (
            ("--machine core:many", "core:many"), ("--machine other", "machine 'other' is neither 'here', nor a machine file"), ("--machine core:1 --processes 17 --threads 65536", "workers"),
            ("--machine few.json --processes 3", "2 nodes"), ("--machine m.json --json ./m.json", "same file"),
            ("--topology 'numa:2 core:4'", "--topology"))))
        self.fail_each(IO_ERROR, ("simulate missing.mtx --machine missing.json", "missing.json"))
        self.fail_each(BAD_INPUT, ("simulate missing.mtx --machine m.json", "m.json", '"sped"'))
