"""`espalier analyze` describes a factorization without computing it. Its cost model is measured, read from an earlier
run, or the default."""

import json
import os
import unittest

from support import BAD_INPUT, IO_ERROR, MEMORY, USAGE, CommandTest


class IncompleteFactorization(CommandTest):
    def test_prints_sizes_and_predicts_without_numbers(self):
        text = self.succeed("analyze", "spe10like:4x5x3", "--method", "ilu", "--levels", 2)
        for part in ("levels of fill 2, ordering natural", "60 of dense blocks of size 3", "one application in"):
            self.assertIn(part, text)
        report = self.report("analyze", "spe10like:4x5x3", "--method", "ilu", "--ordering", "rcm")
        self.assertGreater(report["analysis"]["predicted_solve_s"], 0)
        self.assertEqual((report["incomplete"]["factor_s"], report["settings"]["ordering"]), (0, "rcm"))
        self.assertNotIn("factor", report)

    def test_has_no_schedule_to_predict(self):
        for option in ("--processes 2", "--trace t.paje"):
            self.assertIn("needs --method direct",
                          self.fail_with(USAGE, "analyze", "lap3d:4", "--method", "ilu", *option.split()))
        self.assertIn("--condition cannot be combined with --method ilu: it needs complete factors",
                      self.fail_with(USAGE, "solve", "lap3d:4", "--method", "ilu", "--condition"))


class Analyze(CommandTest):
    def test_reports_the_same_structure_as_solve(self):
        options = ["lap3d:7", "--threads", 2, "--ordering", "amd"]
        analyzed, solved = self.report("analyze", *options), self.report("solve", *options)
        for key in ("nnz_factor", "nnz_stored", "flops", "cblks", "bloks", "supernodes", "tree_height", "tree_depth",
                    "memory_bytes"):
            self.assertEqual(analyzed["analysis"][key], solved["analysis"][key], key)
        self.assertEqual(analyzed["matrix"], solved["matrix"])
        self.assertEqual(analyzed["settings"]["factorization"], solved["settings"]["factorization"])
        self.assertEqual(analyzed["status"], "ok")
        for key in ("factor", "solve", "refine", "backward_error"):
            self.assertNotIn(key, analyzed)

    def test_automatic_schedules_are_for_the_predicted_machine(self):
        few, many = (self.report("analyze", "lap3d:12", "--schedule", "auto", "--calibration", "off", "--threads",
                                 threads, "--processes", processes) for threads, processes in ((1, 1), (8, 4)))
        for report in (few, many):
            settings = report["settings"]
            self.assertLessEqual(settings["schedule_expected_s"], settings["schedule_default_s"])
        self.assertEqual((few["settings"]["schedule_chosen"], few["settings"]["split_chosen"]), ("static", "1d"))
        self.assertLess(many["prediction"]["factor_s"], few["prediction"]["factor_s"])
        self.assertLess(many["settings"]["narrowest_block"], 256)

    def test_lu_stores_both_factors(self):
        symmetric = self.report("analyze", "lap3d:6", "--ordering", "amd")["analysis"]
        both = self.report("analyze", "lap3d:6", "--ordering", "amd", "--factorization", "lu")["analysis"]
        self.assertEqual(both["nnz_factor"], 2 * symmetric["nnz_factor"] - 216)
        self.assertGreater(both["memory_bytes"], symmetric["memory_bytes"])

    def test_of_a_dense_matrix_is_exact(self):
        n = 12
        path = self.write_matrix("a.mtx", n, {(i, j): float(i == j) * 50 + 1 for i in range(n) for j in range(i + 1)},
                                 "symmetric")
        analysis = self.report("analyze", path)["analysis"]
        self.assertEqual(analysis["nnz_factor"], n * (n + 1) // 2)
        self.assertEqual(analysis["flops"], n * (n + 1) * (2 * n + 1) // 6)  # the sum of squared column counts
        self.assertEqual((analysis["supernodes"], analysis["tree_height"]), (1, n))

    def test_text_tells_fill_work_and_memory(self):
        text = self.succeed("analyze", "lap3d:6")
        for word in ("n = 216", "entries", "flop", "supernode", "column block", "height", "memory"):
            self.assertIn(word, text)

    def test_the_least_width_of_column_blocks_is_obeyed(self):
        n = 400  # a dense matrix, of one supernode
        call = ("analyze", self.write_matrix("a.mtx", n, {(i, j): 1.0 + n * (i == j) for i in range(n) for j in range(i + 1)},
                                             "symmetric"), "--threads", 1)
        cblks = {least: self.report(*call, "--min-block-width", least)["analysis"]["cblks"] for least in (100, 190, 201)}
        self.assertEqual(cblks, {100: 2, 190: 2, 201: 1})

    def test_memory_limit(self):
        needed = self.report("analyze", "lap3d:8", "--threads", 1)["analysis"]["memory_bytes"]
        self.assertEqual(self.succeed("analyze", "lap3d:8", "--threads", 1, "--max-memory", needed, "--quiet", "--json",
                                      "fits.json"), "")
        message = self.fail_with(MEMORY, "analyze", "lap3d:8", "--threads", 1, "--max-memory", needed - 1, "--json",
                                 "a.json")
        self.assertIn(str(needed), message)
        self.assertIn(str(needed - 1), message)
        self.assertEqual(self.names(), ["fits.json"])

    def test_failures(self):
        self.fail_with(IO_ERROR, "analyze", "missing.mtx")
        self.fail_with(USAGE, "analyze", "lap3d:zero")
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1.0\n")
        self.assertIn("3 x 4", self.fail_with(BAD_INPUT, "analyze", "a.mtx"))


# The tests of the modules calibrate under sanitizers, too.
@unittest.skipIf(os.environ.get("ESPALIER_SANITIZE"), "takes long without optimization")
class Calibration(CommandTest):
    def model_of(self, *arguments, setting="auto"):
        report = self.report("analyze", "lap3d:6", "--threads", 1, *arguments, environment={
            "XDG_CACHE_HOME": str(self.folder / "cache"), "ESPALIER_CALIBRATION": setting})
        self.assertGreater(report["analysis"]["predicted_factor_s"], 0)
        return report["analysis"]["cost_model"]

    def stored(self):
        return sorted((self.folder / "cache").rglob("*"))

    def test_is_measured_once_and_kept(self):
        self.assertEqual(self.model_of(setting="off"), "default")
        self.assertEqual(self.model_of("--calibration", "off"), "default")
        self.assertEqual(self.model_of(), "default")
        self.assertEqual(self.stored(), [])
        self.assertEqual(self.model_of("--calibration", "on"), "calibrated")
        [folder, file] = self.stored()
        self.assertEqual(folder.name, "espalier")
        stored = json.loads(file.read_text())
        self.assertEqual([(m["scalar"], m["kernels"]) for m in stored["models"]], [("d", "cholesky")])
        self.assertEqual(stored["network"]["source"], "default")
        self.assertEqual(self.model_of(), "cached")
        whole = file.read_text()
        file.write_text(whole[:-20])
        self.assertEqual(self.model_of(), "default")
        self.assertEqual(self.model_of("--calibration", "on"), "calibrated")
        self.assertEqual(self.stored(), [folder, file])
        self.assertNotEqual(file.read_text(), whole)
        self.assertEqual(self.model_of(), "cached")

    def test_unwritable_cache_is_no_error(self):
        self.write("cache", "a file, no directory")
        self.assertEqual(self.model_of("--calibration", "on"), "calibrated")
