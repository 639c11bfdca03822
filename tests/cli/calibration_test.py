"""The cost model: measured in a run, kept for the next one, or not asked for."""

import json
import unittest

from support import USAGE, CommandTest


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
        self.assertEqual(self.stored(), [])
        self.assertEqual(self.model_of(), "calibrated")
        [folder, file] = self.stored()
        self.assertEqual(folder.name, "espalier")
        stored = json.loads(file.read_text())
        self.assertEqual([(m["scalar"], m["kernels"]) for m in stored["models"]], [("d", "cholesky")])
        self.assertEqual(stored["network"]["source"], "default")
        self.assertEqual(self.model_of(), "cached")
        self.assertEqual(self.model_of("--calibration", "on"), "calibrated")
        file.write_text(file.read_text()[:-20])
        self.assertEqual(self.model_of(), "calibrated")
        self.assertEqual(self.stored(), [folder, file])

    def test_unwritable_cache_is_no_error(self):
        self.write("cache", "a file, no directory")
        self.assertEqual(self.model_of(), "calibrated")

    def test_variable_that_means_nothing(self):
        done = self.run_command("analyze", "lap3d:4", environment={"ESPALIER_CALIBRATION": "perhaps"})
        self.assertEqual(done.returncode, USAGE)
        self.assertRegex(done.stderr, "ESPALIER_CALIBRATION is 'perhaps'")
