"""`espalier solve`: solutions, reports and exit codes are right."""

import gzip
import json
import os
import random
import re
import resource
import subprocess
import unittest
from pathlib import Path

from support import (BAD_INPUT, COMMAND, INACCURATE, IO_ERROR, MEMORY, NOT_POSITIVE, OK, SINGULAR, USAGE, CommandTest,
                     backward_error, laplacian, read_array, read_matrix, strict_json)


def random_entries(n, seed, make):
    """A dominant diagonal and about four further entries in each column."""
    chance = random.Random(seed)
    entries = {(chance.randrange(n), chance.randrange(n)): make(chance) for _ in range(4 * n)}
    return entries | {(i, i): 10 + make(chance) for i in range(n)}


def real(chance):
    return chance.uniform(-1, 1)


def complex_number(chance):
    return complex(chance.uniform(-1, 1), chance.uniform(-1, 1))


class Solution(CommandTest):
    def solved(self, path, b, *options, tolerance=1e-12):
        """Solves, and checks A x = b for the solution that --output wrote."""
        self.succeed("solve", path, "--output", "x.mtx", *options)
        columns = read_array(self.folder / "x.mtx")
        matrix = read_matrix(path)
        self.assertEqual(len(columns), len(b))
        for x, column in zip(columns, b):
            self.assertLess(backward_error(matrix, x, column), tolerance)
        return columns

    def test_real_and_complex_matrices(self):
        b = [[1.0] * 50]
        self.solved(self.write_matrix("r.mtx", 50, random_entries(50, 1, real)), b)
        entries = random_entries(50, 2, complex_number)
        self.solved(self.write_matrix("c.mtx", 50, entries, field="complex"), b)
        entries = {(i, j): v for (i, j), v in entries.items() if i >= j}
        self.solved(self.write_matrix("s.mtx", 50, entries, "symmetric", "complex"), b)
        entries = {(i, j): complex(v.real) if i == j else v for (i, j), v in entries.items()}
        self.solved(self.write_matrix("h.mtx", 50, entries, "hermitian", "complex"), b)

    def test_from_standard_input(self):
        path = self.write_matrix("a.mtx", 20, laplacian(20), "symmetric")
        for data in (path.read_bytes(), gzip.compress(path.read_bytes())):
            done = subprocess.run([COMMAND, "solve", "-", "--output", "x.mtx", "--quiet"], input=data, cwd=self.folder,
                                  capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            x, = read_array(self.folder / "x.mtx")
            self.assertLess(backward_error(read_matrix(path), x, [1.0] * 20), 1e-12)

    def test_every_choice(self):
        path = self.write_matrix("a.mtx", 40, laplacian(40), "symmetric")
        self.write("order.txt", "".join(f"{position}\n" for position in reversed(range(40))))
        choices = {"--factorization": ("auto", "llh", "llt", "ldlt", "ldlh", "lu"), "--precision": "sdcz",
                   "--ordering": ("auto", "dissection", "scotch", "metis", "amd", "natural", "rcm", "order.txt"),
                   "--refine": ("auto", "none", "ir", "cg", "gmres", "bicgstab")}
        cases = [(option, value) for option, values in choices.items() for value in values]
        cases += [("--alloc", alloc, "--threads", threads) for alloc in ("global", "local", "interleave")
                  for threads in (1, 2, 3)]
        for case in cases:
            with self.subTest(case=case):
                self.solved(path, [[1.0] * 40], *case, tolerance=1e-5 if case[1] in ("s", "c") else 1e-12)

    def test_cg_needs_a_hermitian_matrix(self):
        path = self.write_matrix("a.mtx", 20, random_entries(20, 8, real))
        self.fail_with(USAGE, "solve", path, "--refine", "cg")

    def test_slow_kernels_of_openblas_are_noted(self):
        slow = {"OPENBLAS_CORETYPE": "Prescott"}
        machine = self.succeed("machine", "--dgemm-order", 64, environment=slow)
        wide = " avx2 " in Path("/proc/cpuinfo").read_text()
        if "Prescott kernels" not in machine or not wide:
            self.skipTest("the BLAS library does not obey OPENBLAS_CORETYPE, or the processor has no wide vectors")
        self.assertIn("OpenBLAS uses slow kernels", machine)
        self.assertIn("OpenBLAS uses slow kernels", self.succeed("solve", "lap2d:8", "--verbose", environment=slow))
        self.assertNotIn("OpenBLAS uses slow kernels", self.succeed("solve", "lap2d:8", environment=slow))

    def test_given_right_hand_sides(self):
        chance = random.Random(4)
        b = [[chance.uniform(-5, 5) for _ in range(20)] for _ in range(3)]
        text = "%%MatrixMarket matrix array real general\n20 3\n" + "\n".join(repr(v) for c in b for v in c)
        self.write("b.mtx", text + "\n")
        path = self.write_matrix("a.mtx", 20, laplacian(20), "symmetric")
        self.solved(path, b, "--rhs", "b.mtx")
        self.solved(path, b, "--rhs", "b.mtx", "--nrhs", 3)

    def test_given_complex_right_hand_side(self):
        self.write("b.mtx", "%%MatrixMarket matrix array complex general\n3 1\n1 2\n3 4\n5 6\n")
        path = self.write_matrix("a.mtx", 3, laplacian(3), "symmetric")
        self.assertIn("--precision z", self.fail_with(USAGE, "solve", path, "--rhs", "b.mtx"))
        self.solved(path, [[1 + 2j, 3 + 4j, 5 + 6j]], "--rhs", "b.mtx", "--precision", "z")

    def test_several_right_hand_sides(self):
        path = self.write_matrix("a.mtx", 20, laplacian(20), "symmetric")
        columns = self.solved(path, [[1.0] * 20] * 5, "--nrhs", 5)
        for column in columns[1:]:
            self.assertLess(max(abs(p - q) for p, q in zip(column, columns[0])), 1e-10)

    def test_random_right_hand_sides_differ_and_are_the_same_each_time(self):
        path = self.write_matrix("a.mtx", 20, laplacian(20), "symmetric")
        once = self.succeed("solve", path, "--rhs", "random", "--nrhs", 2, "--threads", 1, "--output", "-")
        again = self.succeed("solve", path, "--rhs", "random", "--nrhs", 2, "--threads", 1, "--output", "-")
        self.assertEqual(once, again)
        first, second = read_array(once)
        self.assertNotEqual(first, second)
        n, entries = read_matrix(path)
        b = [0.0] * n
        for (i, j), value in entries.items():
            b[i] += value * first[j]
        self.assertTrue(all(-1 - 1e-9 < value < 1 + 1e-9 for value in b))
        self.assertGreater(max(b) - min(b), 0.5)

    def test_order_one(self):
        path = self.write_matrix("a.mtx", 1, {(0, 0): 4.0})
        self.assertEqual(self.solved(path, [[1.0]]), [[0.25]])

    def test_order_zero(self):
        path = self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")
        report = self.report("solve", path)
        self.assertEqual((report["matrix"]["n"], report["status"], report["backward_error"]), (0, "ok", 0))

    def test_general_matrix_that_is_symmetric_in_values_can_be_solved_by_llh(self):
        lower = laplacian(20)
        path = self.write_matrix("a.mtx", 20, lower | {(j, i): v for (i, j), v in lower.items()})
        self.solved(path, [[1.0] * 20], "--factorization", "llh")


class Report(CommandTest):
    KEYS = {
        "matrix": {"name": str, "n": int, "nnz": int, "symmetry": str, "scalar": str},
        "analysis": {"ordering_s": float, "symbolic_s": float, "mapping_s": float, "total_s": float,
                     "nnz_factor": int, "flops": float, "cblks": int, "bloks": int, "memory_bytes": int,
                     "predicted_peak_bytes": int, "predicted_factor_s": float, "predicted_solve_s": float},
        "factor": {"assembly_s": float, "time_s": float, "total_s": float, "gflops": float, "pivots_replaced": int, "tasks": int,
                   "steals": int, "messages": int, "message_bytes": int, "moved_bytes": int},
        "solve": {"time_s": float},
        "refine": {"method": str, "iterations": int, "time_s": float},
    }
    SETTINGS = """factorization precision ordering threads schedule alloc comm_threads split rhs nrhs refine trace json
        output max_memory_bytes quiet verbose""".split()

    def test_has_every_key_with_its_type_and_the_numbers_of_the_problem(self):
        report = self.report("solve", "lap3d:8", "--threads", 2)
        for section, keys in self.KEYS.items():
            for key, kind in keys.items():
                self.assertIsInstance(report[section][key], kind, f"{section}.{key}")
        for key, kind in {"processes": int, "threads": int, "backward_error": float, "peak_memory_bytes": int,
                          "total_s": float, "status": str, "settings": dict}.items():
            self.assertIsInstance(report[key], kind, key)
        self.assertLessEqual(set(self.SETTINGS), set(report["settings"]))
        self.assertEqual(report["matrix"] | {"name": "lap3d:8", "n": 512, "nnz": 512 + 6 * 8 * 8 * 7,
                                             "symmetry": "symmetric", "scalar": "d"}, report["matrix"])
        self.assertEqual((report["status"], report["processes"], report["threads"]), ("ok", 1, 2))
        self.assertEqual(report["settings"]["factorization"], "llh")
        self.assertLess(report["backward_error"], 1e-12)
        analysis = report["analysis"]
        self.assertGreaterEqual(analysis["nnz_factor"], 512 + 3 * 8 * 8 * 7)
        self.assertGreater(analysis["memory_bytes"], 8 * analysis["nnz_factor"])
        self.assertGreaterEqual(analysis["bloks"], analysis["cblks"])
        self.assertGreater(analysis["flops"], 0)
        self.assertGreaterEqual(report["total_s"], report["factor"]["time_s"])
        self.assertGreater(report["peak_memory_bytes"], analysis["memory_bytes"] // 2)

    @unittest.skipIf(os.environ.get("ESPALIER_SANITIZE"), "sanitizers keep memory that was freed")
    def test_predicts_the_peak_of_its_memory(self):
        report = self.report("solve", "elast3d:14", "--threads", 1)
        self.assertAlmostEqual(report["analysis"]["predicted_peak_bytes"] / report["peak_memory_bytes"], 1, delta=0.1)

    def test_of_an_incomplete_factorization(self):
        report = self.report("solve", "spe10like:4x5x3", "--method", "ilu", "--levels", 1, "--threads", 2,
                             "--coarsen", "CD(4)")
        settings = {"method": "ilu", "method_asked": "ilu", "ordering": "natural", "ordering_asked": "auto", "levels": 1,
                    "block_size": None, "coarsen": "CD(4)", "factorization": "lu", "refine": "gmres"}
        self.assertEqual(report["settings"] | settings, report["settings"])
        incomplete = report["incomplete"]
        self.assertEqual(list(incomplete), """levels block_size nnz_factor symbolic_s factor_s solve_s coarsen coarsen_s
            tasks_fine tasks_coarse edges_coarse runtime synchronizations node_bytes affinity_bytes moved_bytes
            transposed_bytes pivots_shifted shift restarts iterations""".split())
        known = {"levels": 1, "block_size": 3, "coarsen": "CD(4)", "tasks_fine": 60, "runtime": "espalier",
                 "pivots_shifted": 0, "shift": 0, "restarts": 0,
                 "iterations": report["refine"]["iterations"]}
        self.assertEqual(incomplete | known, incomplete)
        self.assertEqual(report["status"], "ok")
        self.assertGreater(incomplete["tasks_fine"], incomplete["tasks_coarse"])
        self.assertNotIn("incomplete", self.report("solve", "lap3d:4"))

    def test_settings_have_every_option(self):
        elsewhere = {"help", "machine", "processes"}
        for command in ("solve", "analyze", "simulate"):
            options = set(re.findall(r"(?m)^ {2,6}(?:-\w,)?--([\w-]+)", self.succeed(command, "--help"))) - elsewhere
            self.assertIn("comm-own-core", options)
            keys = {key.removesuffix("_bytes") for key in self.report(command, "lap2d:3")["settings"]}
            self.assertLessEqual({option.replace("-", "_") for option in options}, keys, command)
        settings = self.report("solve", "lap2d:3", "--comm-own-core", "off", "--max-refine-iterations", 7)["settings"]
        self.assertEqual((settings["comm_own_core"], settings["max_refine_iterations"], settings["input"]),
                         ("off", 7, "root"))
        self.assertIsNone(self.report("solve", "lap2d:3")["settings"]["max_refine_iterations"])

    def test_options_without_effect_are_noted(self):
        def noted(*options, matrix="lap3d:4"):
            return [note for note in self.report("solve", matrix, *options)["notes"]
                    if "no effect" in note or "supernodes are used" in note]

        incomplete = ["--levels", 2, "--block-size", 3, "--coarsen", "F(8)"]
        direct = ["levels 2, block-size 3, coarsen F(8) have no effect with method direct"]
        self.assertEqual(noted(*incomplete), direct)
        self.assertEqual(noted(*incomplete, "--method", "auto"), direct)
        self.assertEqual(noted("--levels", 2, "--method", "ilu"), [])
        self.assertEqual(noted("--supernodes", "off", "--factorization", "llt"),
                         ["supernodes are used: a factorization without them needs lu, llh, ldlt or ldlh"])
        for kind in ("llh", "llt"):
            self.assertEqual(noted("--pivoting", "delayed", "--factorization", kind),
                             [f"pivoting delayed has no effect with {kind}"])
        self.assertEqual(noted("--supernodes", "off", "--method", "ilu"), ["supernodes off has no effect with method ilu"])
        self.assertEqual(noted("--supernodes", "off", matrix="convdiff3d:3"), [])
        blocks = ("--supernodes", "off", "--schedule", "dynamic", "--split", "2d", "--max-block-width", 64)
        given = "schedule dynamic, split 2d, max-block-width 64 have no effect without supernodes"
        for kind in ("llh", "ldlt", "lu"):
            matrix = "convdiff3d:3" if kind == "lu" else "lap3d:4"
            self.assertEqual(noted(*blocks, "--factorization", kind, matrix=matrix), [given])
        self.assertEqual(noted("--supernodes", "off", "--scaling", "off", "--ordering", "metis", matrix="convdiff3d:3"),
                         ["scaling off, ordering metis have no effect without supernodes"])
        self.assertEqual(noted("--supernodes", "off", "--scaling", "off"),
                         ["supernodes are used: a factorization without them needs the default matching, scaling, "
                          "pivoting and pivot threshold"])
        self.assertEqual(noted("--supernodes", "off", "--ordering", "metis"),
                         ["supernodes are used: a factorization without them needs ordering auto or amd"])
        self.assertEqual(noted("--pivot-tolerance", 0.1), ["pivot-tolerance 0.1 has no effect with pivoting static"])
        self.assertEqual(noted("--pivot-tolerance", 0.1, "--pivoting", "auto"), [])
        self.assertIn("note ", self.succeed("solve", "lap3d:4", "--levels", 2))

    def test_settings_are_the_effective_ones(self):
        settings = self.report("solve", "lap3d:4", "--factorization", "ldlt", "--precision", "s", "--ordering", "amd",
                               "--threads", 1, "--schedule", "static", "--alloc", "global", "--comm-threads", 0,
                               "--split", "1d", "--rhs", "random", "--nrhs", 3, "--refine", "ir",
                               "--max-memory", "1.5GiB")["settings"]
        expected = {"factorization": "ldlt", "precision": "s", "ordering": "amd", "threads": 1, "schedule": "static",
                    "alloc": "global", "comm_threads": 0, "split": "1d", "rhs": "random", "nrhs": 3,
                    "refine_asked": "ir", "max_memory_bytes": 3 << 29, "trace": None, "json": "-", "output": None}
        self.assertEqual(settings | expected, settings)

    def test_with_a_file_name_that_is_not_utf8(self):
        name = b"a\xff.mtx".decode("utf-8", "surrogateescape")
        self.write_matrix(name, 3, laplacian(3), "symmetric")
        self.assertEqual(self.report("solve", name)["matrix"]["n"], 3)

    def test_every_scalar_of_an_indefinite_matrix(self):
        entries = laplacian(20) | {(i, i): (-1.0) ** i for i in range(20)}
        path = self.write_matrix("a.mtx", 20, entries, "symmetric")
        for letter in "sdcz":
            with self.subTest(letter=letter):
                report = self.report("solve", path, "--precision", letter)
                self.assertIn(report["settings"]["factorization"], ("ldlt", "ldlh"))
                self.assertEqual(report["settings"]["precision"], letter)


class Output(CommandTest):
    def test_of_a_pipe_has_plain_lines_for_phases_and_a_report(self):
        text = self.succeed("solve", "lap3d:6")
        self.assertRegex(text, r"(?m)^ordering \.\.\. [0-9.]+ s$")
        for word in ("lap3d:6", "n = 216", "GF/s", "backward error", "peak memory", "status          ok"):
            self.assertIn(word, text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\r", text)

    def test_quiet_is_silent(self):
        self.assertEqual(self.succeed("solve", "lap3d:4", "--quiet"), "")
        self.assertEqual(self.succeed("solve", "lap3d:4", "--quiet", "--output", "x.mtx"), "")
        self.assertEqual(self.names(), ["x.mtx"])

    def test_data_on_standard_output_stands_alone(self):
        strict_json(self.succeed("solve", "lap3d:4", "--json", "-"))
        self.assertEqual(len(read_array(self.succeed("solve", "lap3d:4", "--output", "-"))[0]), 64)

    def test_appending_to_a_file_keeps_what_is_there(self):
        path = self.write("log", "before\n")
        with path.open("a") as log:
            subprocess.run([COMMAND, "solve", "lap3d:3", "--output", "-"], stdout=log, check=True, cwd=self.folder)
        self.assertTrue(path.read_text().startswith("before\n%%MatrixMarket"))

    def test_standard_output_needs_no_temporary_files(self):
        nowhere = {"TMPDIR": "/nonexistent"}
        self.assertEqual(self.report("solve", "lap3d:3", environment=nowhere)["status"], "ok")
        self.assertEqual(self.run_command("generate", "lap3d:3", environment=nowhere).returncode, 0)

    def test_a_file_size_limit_is_an_error_that_leaves_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))

        done = subprocess.run([COMMAND, "generate", "lap3d:12", "-o", "b.mtx"], capture_output=True, text=True,
                              cwd=self.folder, preexec_fn=limit)
        self.assertEqual(done.returncode, IO_ERROR, done.stderr)
        self.assertRegex(done.stderr, r"\Aespalier: error: b\.mtx: cannot write: [^\n]+\n\Z")
        self.assertEqual(self.names(), [])

    def test_unwritable_targets_are_found_before_the_work(self):
        for option in ("--output", "--json"):
            for target in ("nowhere/x", ".", "/proc/x"):
                with self.subTest(option=option, target=target):
                    # The matrix is missing, but the error names the output, which is checked first.
                    message = self.fail_with(IO_ERROR, "solve", "missing.mtx", option, target)
                    self.assertIn(f"{target}: ", message)
        self.assertEqual(self.names(), [])

    def test_a_loop_of_links_is_left_alone(self):
        for link, target in (("one", "two"), ("two", "one")):
            (self.folder / link).symlink_to(target)
        for option in ("--output", "--json"):
            self.assertIn("one: cannot write: ", self.fail_with(IO_ERROR, "solve", "missing.mtx", option, "one"))
        self.assertTrue((self.folder / "one").is_symlink())
        self.assertEqual(self.names(), ["one", "two"])

    def test_the_check_for_writability_leaves_nothing_and_spoils_nothing(self):
        self.write("x.mtx", "old\n")
        self.fail_with(IO_ERROR, "solve", "missing.mtx", "--output", "x.mtx", "--json", "r.json")
        self.assertEqual(self.names(), ["x.mtx"])
        self.assertEqual((self.folder / "x.mtx").read_text(), "old\n")


class Failure(CommandTest):
    """The exit code shows the kind of the error and one line its cause, and no file is left behind."""

    def solve_fails(self, code, *arguments):
        before = self.names()
        message = self.fail_with(code, "solve", *arguments, "--json", "r.json", "--output", "x.mtx")
        self.assertEqual(self.names(), before)
        return message

    def test_empty_binary_and_truncated_files(self):
        for name, content in {"empty.mtx": b"", "binary.mtx": bytes(range(256)) * 8,
                              "short.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.0\n2 2",
                              "gz.mtx.gz": gzip.compress(b"%%MatrixMarket matrix coordinate real general\n")[:-9],
                              "range.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n",
                              "absurd.mtx": b"%%MatrixMarket matrix coordinate real general\n9 9 99999999999999\n1 1 1\n",
                              }.items():
            with self.subTest(name=name):
                self.write(name, content)
                self.assertIn(name, self.solve_fails(BAD_INPUT, name))

    def test_matrices_that_cannot_be_solved(self):
        head = "%%MatrixMarket matrix coordinate real general\n"
        self.write("nan.mtx", head + "1 1 1\n1 1 nan\n")
        self.write("inf.mtx", head + "1 1 1\n1 1 inf\n")
        self.write("flat.mtx", head + "3 4 1\n1 1 1.0\n")
        self.write_matrix("singular.mtx", 3, {(0, 0): 1.0, (1, 1): 1.0})
        self.write_matrix("indefinite.mtx", 3, laplacian(3) | {(1, 1): -2.0}, "symmetric")
        self.write_matrix("complex.mtx", 2, {(0, 0): 1j, (1, 1): 1 + 1j}, field="complex")
        self.write_matrix("large.mtx", 2, {(0, 0): 1.0, (1, 0): 1e300, (1, 1): 1.0})
        for code, words, part in ((IO_ERROR, ["missing.mtx"], "missing.mtx"), (IO_ERROR, ["."], ""),
                                  (BAD_INPUT, ["nan.mtx"], ""), (BAD_INPUT, ["inf.mtx"], ""),
                                  (BAD_INPUT, ["flat.mtx"], "3 x 4"), (SINGULAR, ["singular.mtx"], ""),
                                  (NOT_POSITIVE, ["indefinite.mtx", "--factorization", "llh"], "positive"),
                                  (USAGE, ["complex.mtx", "--precision", "d"], "use z"),
                                  (USAGE, ["complex.mtx", "--precision", "s"], "use c"),
                                  (BAD_INPUT, ["large.mtx", "--precision", "s"],
                                   "large.mtx: the matrix has a value in row 2, column 1 "),
                                  (MEMORY, ["lap3d:40", "--nrhs", 1000000], "(nrhs = 1000000)")):
            with self.subTest(words=words):
                self.assertIn(part, self.solve_fails(code, *words))

    def test_the_error_of_the_scaled_system_is_named_if_it_is_the_reason(self):
        self.write_matrix("scaled.mtx", 2, {(0, 0): 1e12, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 3.0})
        message = self.fail_with(INACCURATE, "solve", "scaled.mtx", "--mixed-precision", "--refine", "none")
        self.assertRegex(message, r"backward error of the scaled system is \S+e-0\d, above the tolerance of 1e-12")

    def test_systems_without_supernodes_are_described(self):
        self.write_matrix("pairs.mtx", 2, {(0, 0): 0.0, (1, 0): 1.0, (1, 1): 0.0}, "symmetric")
        text = self.succeed("solve", "pairs.mtx")
        self.assertRegex(text, r"structure +no supernodes; 1x1 and 2x2 pivots chosen by the analysis")
        self.assertIn("(ldlt on 1 thread)", text)
        self.assertNotIn("diagonal block", text)

    def test_memory_limit_states_both_numbers(self):
        message = self.solve_fails(MEMORY, "lap3d:12", "--max-memory", "64K")
        self.assertRegex(message, r"needs \d+ bytes \([\d.]+ [KM]iB\), but the limit is 65536 bytes \(64 KiB\)")

    def test_right_hand_sides_that_do_not_fit(self):
        self.write_matrix("a.mtx", 3, laplacian(3), "symmetric")
        for code, text, options, part in ((BAD_INPUT, "2 1\n1\n2\n", [], "2 rows"),
                                          (BAD_INPUT, "3 1\n1\nnan\n3\n", [], ""), (USAGE, "3 0\n", [], "no columns"),
                                          (BAD_INPUT, "3 1\n1\n1e300\n1\n", ["--precision", "s"],
                                           "b.mtx: the right-hand side has a value in row 2, column 1 ")):
            with self.subTest(text=text):
                self.write("b.mtx", "%%MatrixMarket matrix array real general\n" + text)
                self.assertIn(part, self.solve_fails(code, "a.mtx", "--rhs", "b.mtx", *options))
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
        self.assertEqual(self.solve_fails(USAGE, "a.mtx", "--rhs", "b.mtx", "--nrhs", 2),
                         "--nrhs 2 contradicts b.mtx, which has 1 column")
        self.solve_fails(IO_ERROR, "a.mtx", "--rhs", "missing.mtx")

    def test_ordering_files_that_are_none(self):
        path = self.write_matrix("a.mtx", 3, laplacian(3), "symmetric")
        self.assertIn("bogus", self.solve_fails(IO_ERROR, path, "--ordering", "bogus"))
        for content in ("0\n1\n", "0\n1\n1\n", "0\n1\nx\n", "0\n1\n3\n", ""):
            with self.subTest(content=content):
                self.write("order.txt", content)
                self.solve_fails(BAD_INPUT, path, "--ordering", "order.txt")

    def test_a_solution_that_overflows_is_told_and_not_written(self):
        path = self.write_matrix("a.mtx", 2, {(0, 0): 1e-300, (1, 1): 1e-300})
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1e300\n1e300\n")
        message = self.fail_with(INACCURATE, "solve", path, "--rhs", "b.mtx", "--refine", "none", "--json", "r.json",
                                 "--output", "x.mtx")
        self.assertIn("not finite", message)
        self.assertEqual(self.names(), ["a.mtx", "b.mtx", "r.json"])
        self.assertEqual(self.read_json("r.json")["status"], "inaccurate")

    def test_a_numerically_singular_matrix_is_flagged_and_its_solution_kept(self):
        path = self.write_matrix("a.mtx", 2, {(0, 0): 1.0, (0, 1): 2.0, (1, 0): 2.0, (1, 1): 4.0})
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n")
        message = self.fail_with(SINGULAR, "solve", path, "--rhs", "b.mtx", "--json", "r.json", "--output", "x.mtx")
        self.assertIn("numerically singular", message)
        self.assertEqual(self.names(), ["a.mtx", "b.mtx", "r.json", "x.mtx"])
        report = self.read_json("r.json")
        self.assertEqual((report["status"], report["factor"]["numerically_singular"]), ("singular", True))
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n0\n")  # has no solution
        done = self.run_command("solve", path, "--rhs", "b.mtx")
        self.assertIn(done.returncode, (SINGULAR, INACCURATE))
        self.assertRegex(done.stderr, r"\Aespalier: error: [^\n]+\n\Z")

    def test_a_solution_of_an_ill_conditioned_system_is_written_with_its_condition(self):
        gap = 2.0**-51  # the condition number is about 4 / gap
        path = self.write_matrix("a.mtx", 3, {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 1.0 + gap, (2, 2): 1.0})
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
        for pivoting in "static", "auto", "delayed":
            done = self.run_command("solve", path, "--rhs", "b.mtx", "--factorization", "lu", "--pivoting", pivoting,
                                    "--condition", "--json", "r.json", "--output", "x.mtx")
            report = self.read_json("r.json")
            self.assertIn(done.returncode, (OK, SINGULAR))
            self.assertEqual(report["status"], "ok" if done.returncode == OK else "singular")
            self.assertLess(report["backward_error"], 10 * 2.0**-52)
            self.assertLess(report["factor"]["rcond"], 1e-15)
            x = read_array(self.folder / "x.mtx")[0]
            self.assertLess(max(abs(x[0] + x[1] - 1), abs(x[2] - 3)) / abs(x[0]), 1e-15)
            (self.folder / "x.mtx").unlink()

    def test_an_inaccurate_solution_is_kept_and_flagged(self):
        path = self.write_matrix("a.mtx", 40, random_entries(40, 5, real))
        message = self.fail_with(INACCURATE, "solve", path, "--tolerance", "1e-30", "--json", "r.json",
                                 "--output", "x.mtx")
        self.assertIn("tolerance", message)
        self.assertEqual(self.names(), ["a.mtx", "r.json", "x.mtx"])
        self.assertEqual(self.read_json("r.json")["status"], "inaccurate")
        self.assertEqual(len(read_array(self.folder / "x.mtx")[0]), 40)
