"""The command under mpirun: one process prints and writes, and all end with the same exit code."""

import csv
import os
import pathlib
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from support import (BAD_INPUT, COMMAND, IO_ERROR, MEMORY, NOT_POSITIVE, USAGE, CommandTest, backward_error, read_array,
                     read_matrix, strict_json)

LAUNCHER = os.environ.get("ESPALIER_MPIEXEC", "")
# Allows root and more processes than cores, and suppresses warnings about missing network interfaces.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}


@unittest.skipUnless(LAUNCHER, "this build has no MPI")
class Processes(CommandTest):
    def launch(self, processes, *arguments):
        return self.run_command(*arguments, environment=ENVIRONMENT, launcher=[LAUNCHER, "-n", str(processes)])

    def launch_well(self, processes, *arguments):
        return self.succeed(*arguments, environment=ENVIRONMENT, launcher=[LAUNCHER, "-n", str(processes)])

    def launch_badly(self, code, processes, *arguments):
        """Returns the only error line. The launcher may add messages of its own about the exit code."""
        done = self.launch(processes, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "espalier: error:" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def fail_all(self, cases, *options):
        """Launches all at once, because a launcher takes two seconds to handle a failure."""
        with ThreadPoolExecutor() as launchers:
            lines = launchers.map(lambda case: self.launch_badly(case[0], 2, "solve", *case[1], *options), cases)
            for case, line in zip(cases, lines):
                self.assertIn(case[2], line)

    def test_automatic_schedules(self):
        self.launch_well(2, "solve", "lap3d:9", "--threads", 2, "--schedule", "auto", "--json", "r.json")
        report = self.read_json("r.json")
        self.assertEqual((report["status"], report["processes"]), ("ok", 2))
        self.assertIn(report["settings"]["schedule_chosen"], ("static", "dynamic", "places", "nas"))
        self.assertLessEqual(report["settings"]["schedule_expected_s"], report["settings"]["schedule_default_s"])

    def test_solve_together(self):
        self.succeed("generate", "elast3d:5", "--output", "a.mtx")
        matrix = read_matrix(self.folder / "a.mtx")
        for processes, comm_threads in ((2, 0), (2, 1), (2, 2), (4, 0), (4, 1), (4, 2)):
            with self.subTest(processes=processes, comm_threads=comm_threads):
                text = self.launch_well(processes, "solve", "a.mtx", "--threads", 1 + comm_threads % 2,
                                        "--comm-threads", comm_threads, "--output", "x.mtx", "--json", "r.json")
                self.assertEqual(text.count("backward error"), 1)
                report = self.read_json("r.json")
                self.assertEqual((report["status"], report["processes"]), ("ok", processes))
                self.assertEqual(report["settings"]["comm_threads"], comm_threads)
                factor = report["factor"]
                self.assertGreater(factor["messages"], 0)
                self.assertGreater(factor["message_bytes"], 8 * factor["messages"])
                for name in ("messages", "message_bytes", "busy_s", "waiting_s", "communication_s"):
                    self.assertEqual(len(factor[name + "_of_process"]), processes)
                    self.assertAlmostEqual(sum(factor[name + "_of_process"]), factor[name])
                self.assertEqual(len(read_array(self.folder / "x.mtx")), 1)
                x = read_array(self.folder / "x.mtx")[0]
                self.assertLess(backward_error(matrix, x, [1.0] * len(x)), 1e-14)
        self.assertEqual(self.names(), ["a.mtx", "r.json", "x.mtx"])

    def test_messages_are_those_that_the_static_schedule_predicts(self):
        self.launch_well(2, "solve", "lap3d:10", "--threads", 1, "--schedule", "static", "--json", "r.json")
        factor = self.read_json("r.json")["factor"]
        predicted = self.report("analyze", "lap3d:10", "--processes", 2, "--threads", 1)["prediction"]
        self.assertEqual((factor["messages"], factor["message_bytes"]),
                         (predicted["messages"], predicted["message_bytes"]))

    def test_analysis_predicts_for_the_started_processes(self):
        for command in ("analyze", "solve"):
            self.launch_well(2, command, "lap3d:10", "--json", f"{command}.json")
        analyzed, solved = (self.read_json(f"{command}.json") for command in ("analyze", "solve"))
        self.assertEqual(analyzed["processes"], 2)
        self.assertEqual(analyzed["settings"]["threads"], solved["settings"]["threads"])
        for name in ("memory_bytes", "predicted_factor_s"):
            self.assertEqual(analyzed["analysis"][name], solved["analysis"][name])
        # the processes share this computer, and together need more than each
        limit = int(1.5 * analyzed["analysis"]["memory_bytes"])
        self.assertIn(str(limit), self.launch_badly(MEMORY, 2, "analyze", "lap3d:10", "--max-memory", limit))
        self.launch_well(2, "analyze", "lap3d:10", "--processes", 1, "--max-memory", limit)

    def test_every_process_reads_its_part(self):
        self.succeed("generate", "convdiff3d:6", "--output", "a.mtx")
        order = read_matrix(self.folder / "a.mtx")[0]
        self.write("b.mtx", f"%%MatrixMarket matrix array real general\n{order} 2\n"
                   + "".join(f"{k % 7 - 3}.25\n" for k in range(2 * order)))
        for matrix in ("a.mtx", "lap3d:4"):
            options = ["--rhs", "b.mtx"] if matrix == "a.mtx" else []
            for how in ("root", "distributed"):
                self.launch_well(3, "solve", matrix, *options, "--threads", 1, "--input", how, "--output", f"{how}.mtx")
            self.assertEqual((self.folder / "distributed.mtx").read_bytes(), (self.folder / "root.mtx").read_bytes())
        self.write("bad.mtx", (self.folder / "a.mtx").read_text() + "1 x 2\n")
        lines = len((self.folder / "bad.mtx").read_text().splitlines())
        cases = ((BAD_INPUT, ("bad.mtx",), f"espalier: error: bad.mtx:{lines}: "),
                 (IO_ERROR, ("nofile.mtx",), "nofile.mtx"),
                 (BAD_INPUT, ("a.mtx", "--rhs", "bad.mtx"), f"bad.mtx:{lines}: "))
        self.fail_all(cases, "--input", "distributed")

    def test_a_report_on_standard_output_is_one(self):
        text = self.launch_well(3, "solve", "lap3d:8", "--threads", 1, "--json", "-", "--quiet")
        self.assertEqual(strict_json(text)["processes"], 3)

    def test_fail_together(self):
        self.write("text.mtx", "no matrix\n")
        self.write_matrix("indefinite.mtx", 3, {(0, 0): 1.0, (1, 1): -1.0, (2, 2): 1.0}, symmetry="symmetric")
        cases = ((IO_ERROR, ("nofile.mtx",), "nofile.mtx"),
                 (BAD_INPUT, ("text.mtx",), "text.mtx"),
                 (NOT_POSITIVE, ("indefinite.mtx", "--factorization", "llh"), "positive definite"),
                 (USAGE, ("lap3d:4", "--colour", "red"), "--colour"),
                 (USAGE, ("lap3d:4", "--comm-threads", "3"), "--comm-threads"))
        self.fail_all(cases, "--output", "x.mtx")
        self.assertEqual(self.names(), ["indefinite.mtx", "text.mtx"])

    def test_all_processes_have_the_topology_of_the_first(self):
        # Each process has the cores of the described machine, not those of this one.
        machine = ["--topology", "numa:2 core:8"]
        for command in ("solve", "analyze"):
            self.launch_well(2, command, "lap3d:8", *machine, "--json", "r.json")
            self.assertEqual(self.read_json("r.json")["threads"], 16)
        self.launch_well(2, "compare", "lap3d:8", "--vary", "topology=numa:2 core:8,core:4", "--repeat", 1, "--quiet")
        self.assertIn("TYPE:COUNT", self.launch_badly(USAGE, 2, "solve", "lap3d:4", "--topology", "core:many"))

    def test_compare_communication_threads(self):
        text = self.launch_well(2, "compare", "lap3d:8", "--vary", "comm-threads=0,1,2", "--repeat", 2, "--threads", 1,
                                "--json", "t.json", "--csv", "t.csv")
        self.assertEqual(sum(line.startswith("comm-threads ") for line in text.splitlines()), 1)
        found = self.read_json("t.json")
        self.assertEqual([row["settings"]["comm-threads"] for row in found["rows"]], ["0", "1", "2"])
        for row in found["rows"]:
            self.assertEqual((row["status"], len(row["factor_times_s"])), ("ok", 2))
            self.assertGreater(row["messages"], 0)
            self.assertLess(row["backward_error"], 1e-14)
        with (self.folder / "t.csv").open() as file:
            self.assertEqual(len(list(csv.reader(file))), 4)

    def test_compare_numbers_of_processes(self):
        self.launch_well(3, "compare", "lap3d:8", "--vary", "processes=1,2,3", "--repeat", 2, "--threads", 1, "--json",
                         "t.json", "--quiet")
        rows = self.read_json("t.json")["rows"]
        self.assertEqual([row["messages"] > 0 for row in rows], [False, True, True])
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertIn("mpirun -n 4", self.launch_badly(USAGE, 3, "compare", "lap3d:4", "--vary", "processes=4"))

    def test_a_process_that_dies_ends_the_job(self):
        # Open MPI reports it on standard error, MPICH on standard output.
        launcher = subprocess.Popen([LAUNCHER, "-n", "3", COMMAND, "solve", "lap3d:70", "--threads", "1", "--output",
                                     "x.mtx", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    cwd=self.folder, env=os.environ | ENVIRONMENT)

        def processes():
            found = []
            for entry in os.listdir("/proc"):
                try:
                    words = pathlib.Path("/proc", entry, "cmdline").read_text(errors="replace").split("\0")
                    if entry.isdigit() and words[0] == COMMAND and "lap3d:70" in words:
                        found.append(int(entry))
                except OSError:  # it has ended
                    continue
            return found

        with launcher:
            deadline = time.monotonic() + 60
            while len(processes()) < 3 and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(1)  # within the ordering, or later
            os.kill(processes()[-1], signal.SIGKILL)
            told = launcher.communicate(timeout=60)[0]
        self.assertNotEqual(launcher.returncode, 0)
        self.assertTrue(told)
        self.assertEqual((processes(), self.names()), ([], []))

    def test_what_needs_no_others_is_done_by_one(self):
        self.assertEqual(self.launch_well(2, "--version").count("espalier"), 1)
        self.launch_well(2, "generate", "lap3d:3", "--output", "a.mtx", "--quiet")
        self.assertEqual(read_matrix(self.folder / "a.mtx")[0], 27)
