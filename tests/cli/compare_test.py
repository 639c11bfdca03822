"""`espalier compare`: every combination is a row, in the table, the CSV, the JSON and the picture."""

import csv
import io
import itertools
import json
import statistics
import xml.etree.ElementTree

from support import INACCURATE, IO_ERROR, NOT_POSITIVE, SINGULAR, UNSUPPORTED, USAGE, CommandTest

MACHINE = ("--topology", "numa:2 core:2")
SCHEDULES = ("static", "dynamic", "places", "nas")


class Coarsening(CommandTest):
    def test_values_may_have_commas_in_parentheses(self):
        rows = self.report("compare", "lap3d:6", "--method", "ilu", "--repeat", 1, "--threads", 2,
                           "--vary", "coarsen=none,F(32),D(400),CD(4)")["rows"]
        self.assertEqual([row["settings"]["coarsen"] for row in rows], ["none", "F(32)", "D(400)", "CD(4)"])
        self.assertEqual([row["status"] for row in rows], ["ok"] * 4)
        self.assertIn("')' is expected",
                      self.fail_with(USAGE, "compare", "lap3d:6", "--vary", "coarsen=F(3,4),none", "--method", "ilu"))


class Runtimes(CommandTest):
    """Runtimes and policies of the tasks of incomplete factorizations."""

    def test_all_solve_the_same_system(self):
        for runtime in ("tbb", "openmp"):
            with self.subTest(runtime=runtime):
                done = self.run_command("compare", "lap3d:6", "--method", "ilu", "--repeat", 1, "--threads", 2,
                                        "--vary", f"runtime=espalier,{runtime}", "--coarsen", "CD(4)", "--json", "t.json")
                if done.returncode == UNSUPPORTED:
                    self.assertIn(f"does not have the runtime {runtime}", done.stderr)
                    continue
                rows = self.read_json("t.json")["rows"]
                self.assertEqual([row["settings"]["runtime"] for row in rows], ["espalier", runtime])
                self.assertEqual([row["status"] for row in rows], ["ok", "ok"])
                self.assertEqual(*[row["backward_error"] for row in rows])

    def test_policies_of_our_own_apply_to_incomplete_factors(self):
        rows = self.report("compare", "lap3d:6", "--method", "ilu", "--repeat", 1, *MACHINE, "--threads", 4,
                           "--coarsen", "CD(4)", "--vary", "schedule=" + ",".join(SCHEDULES))["rows"]
        self.assertEqual([row["status"] for row in rows], ["ok"] * 4)
        self.assertEqual(len({row["backward_error"] for row in rows}), 1)


class Compare(CommandTest):
    def test_every_combination_is_a_row(self):
        self.succeed("compare", "lap3d:6", "--vary", "schedule=" + ",".join(SCHEDULES), "--vary", "split=1d,2d",
                     "--vary", "alloc=global,local", "--vary", "threads=1,4", "--split-width", 8, "--split-rows", 8,
                     *MACHINE, "--nrhs", 2, "--rhs", "random", "--json", "t.json", "--csv", "t.csv", "--quiet")
        found = self.read_json("t.json")
        expected = list(itertools.product(SCHEDULES, ("1d", "2d"), ("global", "local"), ("1", "4")))
        self.assertEqual([tuple(row["settings"].values()) for row in found["rows"]], expected)
        self.assertEqual(list(found["vary"]), ["schedule", "split", "alloc", "threads"])
        self.assertEqual((found["settings"]["split-width"], found["settings"]["nrhs"]), ("8", 2))
        self.assertEqual((found["matrix"]["n"], found["repeat"], found["status"]), (216, 3, "ok"))
        base = found["rows"][found["ratio_to_row"]]["factor_s"]
        for row in found["rows"]:
            times = row["factor_times_s"]
            self.assertEqual(statistics.median(row["solve_times_s"]), row["solve_s"])
            self.assertEqual(len(times), 3)
            self.assertEqual(row["factor_s"], statistics.median(times))
            self.assertEqual((row["factor_fastest_s"], row["factor_slowest_s"]), (min(times), max(times)))
            self.assertAlmostEqual(row["ratio"] * base, row["factor_s"])
            self.assertLess(row["backward_error"], 1e-14)
            self.assertTrue(0 <= row["local_share"] <= 1, row)
            self.assertGreater(row["predicted_s"], 0)
        static, in_parts = found["rows"][1], found["rows"][5]
        self.assertEqual((static["steals"], static["status"], static["message"]), (0, "ok", None))
        self.assertGreater(in_parts["tasks"], static["tasks"])  # 2d, with four threads
        table = list(csv.DictReader(io.StringIO((self.folder / "t.csv").read_text())))
        self.assertEqual(len(table), len(expected))
        for line, row in zip(table, found["rows"]):
            self.assertEqual([line[name] for name in found["vary"]], list(row["settings"].values()))
            self.assertEqual((float(line["factor_s"]), int(line["tasks"]), line["runs"]),
                             (row["factor_s"], row["tasks"], "3"))
            self.assertEqual(line["idle_share"], "")

    def test_the_table(self):
        text = self.succeed("compare", "lap3d:6", "--vary", "threads=1,2", "--repeat", 2)
        lines = text.splitlines()
        head = next(k for k, line in enumerate(lines) if line.startswith("threads "))
        self.assertEqual(lines[head].split(), "threads factor [s] fastest slowest ratio GF/s predicted assembly solve "
                         "refine tasks steals error".split())
        self.assertEqual([line.split()[0] for line in lines[head + 1:head + 3]], ["1", "2"])
        self.assertEqual(lines[head + 1].split()[4], "1.000")
        for part in ("analysis ... ", "run 1 of 2 ... ", "run 2 of 2 ... ", "n = 216", "medians of 2 runs",
                     "(slowest - fastest)"):
            self.assertIn(part, text)
        self.assertIn("one run for each row", self.succeed("compare", "lap3d:4", "--vary", "ordering=amd", "--repeat", 1))

    def test_the_notes_of_runs_are_named_with_their_rows(self):
        asked = ["compare", "lap3d:8", "--repeat", 2, "--split", "2d", "--vary", "threads=1,2", "--vary", "nrhs=1,2"]
        none = "split 2d has no effect with one thread"
        self.assertIn(f"note        2 of 4 rows: {none}\n", self.succeed(*asked))
        self.assertEqual([none in row["notes"] for row in self.report(*asked)["rows"]], [True, True, False, False])

    def test_combinations_that_need_more_memory_together_than_there_is_take_turns(self):
        need = self.report("analyze", "lap3d:6", "--threads", 1)["analysis"]["memory_bytes"]
        arguments = ("compare", "lap3d:6", "--vary", "alloc=global,local", "--threads", 1, "--repeat", 2)
        text = self.succeed(*arguments, "--max-memory", f"{need * 3 // 2}B", "--json", "r.json")
        self.assertIn("each run allocates them again", text)
        report = self.read_json("r.json")
        self.assertEqual([len(row["factor_times_s"]) for row in report["rows"]], [2, 2])
        self.assertEqual((report["factors_kept"], self.report(*arguments)["factors_kept"]), (False, True))

    def test_a_combination_that_fails_is_a_row_that_says_so(self):
        done = self.run_command("compare", "saddle3d:4", "--vary", "factorization=llh,ldlt", "--vary", "threads=1,2",
                                "--csv", "t.csv", "--json", "t.json", "--picture", "t.svg")
        self.assertEqual(done.returncode, NOT_POSITIVE, done.stderr)
        self.assertRegex(done.stderr, r"\Aespalier: error: 2 of 4 cases failed, first: factorization=llh, threads=1: "
                         r".*pivot.*\n\Z")
        self.assertIn("ratios refer to the row factorization=ldlt, threads=1", done.stdout)
        self.assertIn("failed      factorization=llh, threads=2: ", done.stdout)
        report = self.read_json("t.json")
        self.assertEqual([row["status"] for row in report["rows"]], ["not_positive_definite"] * 2 + ["ok"] * 2)
        self.assertEqual([row["ratio"] is None for row in report["rows"]], [True, True, False, False])
        self.assertEqual((report["ratio_to_row"], report["rows"][2]["ratio"]), (2, 1))
        self.assertIn("failed: not_positive_definite", (self.folder / "t.svg").read_text())
        table = list(csv.DictReader(io.StringIO((self.folder / "t.csv").read_text())))
        self.assertEqual([line["factor_s"] == "" for line in table], [True, True, False, False])
        self.assertIn("pivot", table[0]["message"])

    def test_a_solution_above_the_tolerance(self):
        message = self.fail_with(INACCURATE, "compare", "lap3d:4", "--vary", "refine=none,ir", "--tolerance", "1e-30")
        self.assertIn("2 of 2 cases failed, first: refine=none: the backward error is", message)

    def test_a_singular_matrix_has_times_and_fails(self):
        self.write_matrix("s.mtx", 2, {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 1.0})
        report = self.report("compare", "s.mtx", "--vary", "threads=1,2", "--factorization", "lu", code=SINGULAR)
        self.assertEqual([(row["status"], len(row["factor_times_s"])) for row in report["rows"]], [("singular", 3)] * 2)

    def test_pictures(self):
        arguments = ("compare", "lap3d:4", "--vary", "schedule=static,dynamic", "--vary", "threads=1,2", "--quiet",
                     "--picture")
        self.assertEqual(self.succeed(*arguments, "t.svg"), "")
        drawn = xml.etree.ElementTree.parse(self.folder / "t.svg").getroot()
        words = [element.text for element in drawn.iter() if element.tag.endswith("text")]
        for word in ("Factorization of lap3d:4", "schedule", "static", "dynamic", "threads", "ratio", "1.00",
                     "predicted"):
            self.assertIn(word, words)
        self.succeed(*arguments, "t.png")
        self.assertEqual((self.folder / "t.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_simulation(self):
        machine = "numa:4 core:4"
        report = self.report("compare", "lap3d:12", "--simulate", machine, "--vary", "schedule=static,dynamic",
                             "--vary", "threads=1,16", "--vary", "processes=1,2", "--vary", "ordering=auto,amd",
                             "--split", "2d")
        self.assertEqual((report["simulated"], report["machine"], len(report["rows"])), (True, machine, 16))
        times = {}
        for row in report["rows"]:
            settings = row["settings"]
            times[tuple(settings.values())] = row["factor_s"]
            self.assertTrue(0 <= row["idle_share"] < 1 and 0 <= row["local_share"] <= 1, row)
            self.assertEqual(row["messages"] > 0, settings["processes"] == "2")
            self.assertEqual((row["refine_s"], row["backward_error"], row["predicted_s"]), (None, None, None))
            self.assertTrue(0 < row["solve_s"] < row["factor_s"], row)
        self.assertLess(times["dynamic", "16", "1", "auto"], times["dynamic", "1", "1", "auto"])
        self.assertNotEqual(times["static", "1", "1", "auto"], times["static", "1", "1", "amd"])
        # The result of the command that simulates one of them.
        one = self.report("simulate", "lap3d:12", "--machine", machine, "--schedule", "dynamic", "--threads", 16,
                          "--split", "2d", "--processes", 2)
        self.assertEqual(one["prediction"]["factor_s"], times["dynamic", "16", "2", "auto"])
        text = self.succeed("compare", "lap3d:6", "--simulate", "here", "--vary", "threads=1", "--processes", 2)
        self.assertIn("simulated       here", text)

    def test_automatic_schedules(self):
        for where in ((), ("--simulate", "numa:2 core:8")):
            given, chosen = self.report("compare", "lap3d:10", "--threads", 4, "--vary", "schedule=static,auto", *where,
                                        "--repeat", 1)["rows"]
            self.assertEqual((given["schedule_chosen"], given["schedule_expected_s"]), ("static", None))
            self.assertIn(chosen["schedule_chosen"], SCHEDULES)
            self.assertLessEqual(chosen["schedule_expected_s"], chosen["schedule_default_s"])
            if where:
                self.assertEqual(chosen["schedule_default_s"], given["factor_s"])
                self.assertEqual(chosen["schedule_expected_s"], chosen["factor_s"])
            text = self.succeed("compare", "lap3d:10", "--threads", 4, "--vary", "schedule=static,auto", *where,
                                "--repeat", 1)
            self.assertRegex(text, r"chosen +schedule=auto: \w+, split \w+, column blocks of at most")

    def test_widths_of_column_blocks_are_simulated(self):
        rows = self.report("compare", "lap3d:12", "--simulate", "numa:4 core:8", "--vary", "max-block-width=auto,24,12",
                           "--vary", "split=1d,2d", "--processes", 2)["rows"]
        tasks = [row["tasks"] for row in rows[::2]]
        self.assertEqual(tasks, sorted(tasks))
        self.assertLess(tasks[0], tasks[2])
        self.assertEqual([row["widest_block"] for row in rows], [256] * 2 + [24] * 2 + [12] * 2)

    def test_communication_threads_are_simulated(self):
        self.write("m.json", json.dumps({"numa_nodes": 1, "cores_per_numa_node": 3, "network": {
            "latency_s": 1e-4, "bytes_per_s": 1e9, "overhead_s": 4e-5, "copy_bytes_per_s": 1e9}}))
        asked = ["lap3d:16", "--processes", 3, "--calibration", "off"]
        rows = self.report("compare", *asked, "--simulate", "m.json", "--threads", 2, "--vary", "comm-threads=0,1,2",
                           "--vary", "comm-own-core=on,off")["rows"]
        times = {tuple(row["settings"].values()): row["factor_s"] for row in rows}
        self.assertEqual(times["0", "on"], times["0", "off"])
        for count in ("1", "2"):
            self.assertGreater(times["0", "off"], 1.02 * times[count, "off"])
            self.assertGreater(times[count, "off"], times[count, "on"])
        self.assertGreaterEqual(times["1", "on"], times["2", "on"])
        # Two workers leave one of three cores to one communication thread.
        for count, own in ((1, "on"), (2, "off")):
            report = self.report("simulate", *asked, "--machine", "m.json", "--threads", 2, "--comm-threads", count,
                                 "--trace", "run.paje")
            prediction = report["prediction"]
            self.assertEqual(prediction["factor_s"], times[str(count), own])
            self.assertEqual((prediction["comm_threads"], report["settings"]["comm_threads"]), (count, count))
            self.assertEqual(prediction["communication_s"] > 0, own == "off")
            threads = json.loads(self.succeed("trace", "run.paje", "--json", "-"))["threads"]
            self.assertEqual(len(threads), 3 * (2 + count))

    def test_what_a_simulation_has_no_use_for_is_not_varied(self):
        names = ("topology", "refine", "tolerance", "bind", "record-trace", "condition", "nrhs", "max-refine-iterations",
                 "pivot-threshold", "pivoting", "pivot-tolerance", "supernodes")
        self.fail_each(USAGE, *((f"compare lap3d:4 --simulate 'numa:2 core:2' --vary {name}=1,2",
                                 f"--vary {name} has no effect") for name in names))
        one = "compare lap3d:4 --simulate 'numa:2 core:2' --vary comm-threads=0,1"
        self.fail_each(USAGE, *((f"{one} {options}", "simulation of one process") for options in (
            "", "--processes 1", "--vary processes=1")))
        self.assertEqual(len(self.report("compare", "lap3d:4", "--simulate", "core:2", "--vary", "comm-own-core=on,off",
                                         "--vary", "processes=1,2")["rows"]), 4)

    def test_options_on_which_no_simulation_depends_are_named(self):
        def named(*options):
            text = self.succeed("compare", "lap3d:8", "--simulate", "core:4", *options)
            return [line.split()[2] for line in text.splitlines() if "makes no difference" in line]

        narrow = ["--max-block-width", 32]
        self.assertEqual(named("--vary", "split=1d,2d,dynamic", *narrow), ["split"])
        self.assertEqual(named("--vary", "push=pLoc,pNumaW", "--vary", "threads=1,2", "--vary", "seed=0,1"),
                         ["push", "seed"])
        self.assertEqual(named("--vary", "comm-own-core=on,off", "--comm-threads", 0, "--processes", 2), ["comm-own-core"])
        self.assertEqual(named("--vary", "split=1d,2d", "--vary", "max-block-width=32,64", "--split-rows", 8,
                               "--split-width", 16), [])
        self.assertEqual(named("--vary", "threads=2"), [])
        text = self.succeed("compare", "lap3d:8", "--simulate", "core:4", "--split", "2d", "--vary", "threads=1,2,4", *narrow)
        self.assertIn("note        1 of 3 rows: split 2d has no effect with one thread\n", text)
        self.assertEqual(text.count("no column block has 48 columns"), 2)

    def test_more_threads_are_simulated_than_run_here(self):
        self.write("big.json", '{"numa_nodes": 128, "cores_per_numa_node": 64}')
        report = self.report("compare", "lap2d:6", "--simulate", "big.json", "--vary", "threads=1,8192")
        self.assertEqual([row["status"] for row in report["rows"]], ["ok", "ok"])
        self.report("compare", "lap2d:6", "--simulate", "big.json", "--vary", "alloc=local", "--threads", 8192)

    def test_machines_are_checked_before_the_matrix_is_read(self):
        self.fail_each(USAGE, *((f"compare missing.mtx --vary threads=1 {options}", "core:many") for options in (
            "--simulate core:many", "--topology core:many", "--vary topology=here,core:many")))
        self.fail_each(IO_ERROR, ("compare missing.mtx --vary threads=1 --simulate missing.json", "missing.json"))

    def test_the_json_has_the_system_that_was_solved(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 3\n" + "1\n" * 12)
        settings = self.report("compare", "lap2d:2", "--vary", "threads=1", "--rhs", "b.mtx", "--operation", "transpose"
                               )["settings"]
        self.assertEqual((settings["nrhs"], settings["rhs"], settings["operation"]), (3, "b.mtx", "transpose"))
        report = self.report("compare", "lap3d:5", "--vary", "nrhs=3,1,40", "--rhs", "random", "--repeat", 1)
        self.assertNotIn("nrhs", report["settings"])
        self.assertEqual([(row["settings"]["nrhs"], row["status"]) for row in report["rows"]],
                         [("3", "ok"), ("1", "ok"), ("40", "ok")])
        self.fail_with(USAGE, "compare", "lap2d:2", "--vary", "nrhs=1,4", "--rhs", "b.mtx")  # the file has 3 columns
        simulated = self.report("compare", "lap2d:2", "--vary", "threads=1", "--simulate", "core:2")["settings"]
        self.assertEqual((simulated["nrhs"], simulated["rhs"], simulated["operation"]), (None, None, None))

    def test_settings_of_the_json(self):
        report = self.report("compare", "lap2d:3", "--vary", "max-block-width=8,16", "--split-width", 8, "--repeat", 1)
        self.assertEqual(report["vary"], {"max-block-width": ["8", "16"]})
        self.assertEqual([row["settings"] for row in report["rows"]], [{"max-block-width": "8"}, {"max-block-width": "16"}])
        settings = report["settings"]
        expected = {"split-width": "8", "precision": "d", "input": "root", "processes": 1}
        self.assertEqual(settings | expected, settings)
        self.assertNotIn("max-block-width", settings)

    def test_misuse(self):
        self.succeed("generate", "lap2d:3", "-o", "a.mtx", "--quiet")
        many = ",".join(map(str, range(1001)))
        self.fail_each(USAGE, *((f"compare a.mtx {options}", part) for options, part in (
            ("", "--vary"), ("--vary threads", "NAME=VALUE"), ("--vary threads=", "NAME=VALUE"),
            ("--vary =1", "NAME=VALUE"),
            ("--vary threads=1,,2", "empty value"), ("--vary thread=1", "unknown option 'thread'"),
            ("--vary thread=1", "nrhs, processes"), ("--vary precision=s,d", "--precision"),
            ("--vary nrhs=1,2 --nrhs 2", "contradict"), ("--vary topology=m.json", "espalier simulate --machine"),
            ("--vary threads=8192", "4096"), ("--vary alloc=local --threads 8192", "4096"),
            ("--vary threads=1,none", "--vary threads=none"),
            ("--vary schedule=static,fifo", "static, dynamic, places, nas, auto"),
            ("--vary split=1d,2d --schedule auto", "--vary split has no effect with --schedule auto"),
            ("--vary threads=1 --vary threads=1", "more than once"), ("--vary threads=1 --threads 2", "contradict"),
            ("--vary threads=1 --vary processes=1,2", "--simulate"), ("--vary threads=1 --processes 2", "--simulate"),
            ("--vary threads=1 --repeat 0", "--repeat"),
            ("--vary threads=1 --simulate numa:2 --topology numa:2", "both name a machine"),
            ("--vary threads=1 --picture t.pdf", ".svg or .png"), ("--vary threads=1 --csv - --json -", "both name"),
            ("--vary threads=1 --csv t.svg --picture ./t.svg", "same file"),
            ("--vary threads=1 --json a.mtx", "both name"), ("--vary threads=1 --csv a.mtx", "both name"),
            ("--vary threads=1 --csv ./a.mtx", "same file"),
            (f"--vary seed={many}", "1000 combinations"))))
        threads = ["--vary", "threads=1"]
        self.fail_with(IO_ERROR, "compare", "a.mtx", *threads, "--csv", "missing/t.csv")
        self.fail_with(IO_ERROR, "compare", "a.mtx", "--vary", "ordering=scotch,missing.txt")
        self.assertEqual(self.names(), ["a.mtx"])
