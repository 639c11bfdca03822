"""`espalier trace`: numbers and pictures of traces with known content."""

import gzip
import struct
import subprocess
import xml.etree.ElementTree
from pathlib import Path

from support import BAD_INPUT, COMMAND, IO_ERROR, USAGE, CommandTest, strict_json

# Two threads and four tasks, which tests/trace/sample_trace.hpp describes.
GOLDEN = Path(__file__).resolve().parents[1] / "tools/traces/golden/small.paje"


class GoldenTrace(CommandTest):
    def test_numbers(self):
        found = self.report("trace", GOLDEN)
        self.assertEqual(found["about"], {"matrix": "lap2d:3", "origin": "measured"})
        self.assertEqual(found["window"], {"phase": "all", "begin_s": 1e-6, "end_s": 7.25e-6})
        self.assertEqual([(thread["name"], thread["node"], thread["busy_s"], thread["idle_s"], thread["unrecorded_s"])
                          for thread in found["threads"]],
                         [("T0", "N0", 4.75e-6, 1.5e-6, 0), ("T1", "N0", 5e-6, 0, 1.25e-6)])
        self.assertEqual(found["kinds"]["factor"],
                         {"category": "work", "states": 2, "total_s": 6e-6, "mean_s": 3e-6})
        self.assertEqual((found["messages"], found["message_bytes"], found["steals"]), (1, 800, 1))
        self.assertEqual(found["critical_path"]["tasks"], [1, 2])
        self.assertEqual(found["critical_path"]["length_s"], 6.75e-6)
        self.assertIsNone(found["comparison"])

    def test_tables(self):
        text = self.succeed("trace", GOLDEN, "--phase", "solve")
        for part in ("measured, lap2d:3", "phases: solve 6.25 us", "\nsolve\nthread ", "T1            5.00 us   80.0%",
                     "critical path: 6.75 us", "1 message (", "1 steal,"):
            self.assertIn(part, text)

    def test_part_of_a_phase(self):
        found = self.report("trace", GOLDEN, "--from", "0.000001", "--to", "4e-6")
        self.assertEqual((found["window"]["begin_s"], found["window"]["end_s"]), (2e-6, 5e-6))
        self.assertEqual([thread["busy_s"] for thread in found["threads"]], [1.5e-6, 3e-6])

    def test_compressed(self):
        self.write("run.paje.gz", gzip.compress(GOLDEN.read_bytes()))
        self.assertEqual(self.report("trace", "run.paje.gz"), self.report("trace", GOLDEN))
        packed = gzip.compress(GOLDEN.read_bytes())
        self.write("cut.paje.gz", packed[:-40])
        self.assertEqual(self.fail_with(BAD_INPUT, "trace", "cut.paje.gz"),
                         f"cut.paje.gz: truncated gzip data: it ends after {len(packed) - 40} bytes")
        self.write("sum.paje.gz", packed[:-8] + b"\0\0\0\0" + packed[-4:])
        self.assertRegex(self.fail_with(BAD_INPUT, "trace", "sum.paje.gz"),
                         r"\Asum\.paje\.gz: corrupt gzip data near byte \d+: incorrect data check\Z")

    def test_an_empty_file_has_no_line(self):
        self.write("empty.paje", "")
        self.assertEqual(self.fail_with(BAD_INPUT, "trace", "empty.paje"),
                         "empty.paje: the file has no events, so it is not a Paje trace")

    def test_against_itself(self):
        found = self.report("trace", GOLDEN, "--compare", GOLDEN)["comparison"]
        self.assertEqual((found["matched_by"], found["makespan_error"], found["total"]["matched"]), ("task", 0, 4))
        self.assertEqual(found["kinds"]["update"]["median_ratio"], 1)
        self.assertIn("makespan", self.succeed("trace", GOLDEN, "--compare", GOLDEN))

    def test_from_standard_input(self):
        with GOLDEN.open() as file:
            done = subprocess.run([COMMAND, "trace", "-", "--json", "-"], stdin=file, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(strict_json(done.stdout), self.report("trace", GOLDEN))


class Pictures(CommandTest):
    def test_svg_is_well_formed_and_has_both_panels(self):
        self.assertEqual(self.succeed("trace", GOLDEN, "--svg", "a.svg", "--compare", GOLDEN, "--quiet"), "")
        text = (self.folder / "a.svg").read_text()
        self.assertEqual(xml.etree.ElementTree.fromstring(text).get("width"), "1200")
        self.assertEqual(text.count(">T0</text>"), 2)
        self.assertEqual(self.names(), ["a.svg"])

    def test_png_is_as_wide_as_asked(self):
        self.succeed("trace", GOLDEN, "--png", "a.png", "--width", 900, "--color", "level")
        data = (self.folder / "a.png").read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">I", data[16:20])[0], 900)

    def test_html_needs_nothing_else(self):
        page = self.succeed("trace", GOLDEN, "--html", "-", "--color", "level")
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertIn('"by":"level"', page)
        for word in ("http:", "https:", "src=", "@import", "url("):
            self.assertNotIn(word, page)


class RunAndPrediction(CommandTest):
    def run_and_predict(self, matrix, *arguments):
        """The JSON of a run with a trace, and its comparison with the prediction."""
        report = self.report("solve", matrix, *arguments, "--trace", "run.paje")
        self.succeed("analyze", matrix, *arguments, "--trace", "predicted.paje.gz", "--quiet")
        return report, self.report("trace", "run.paje", "--compare", "predicted.paje.gz")

    def test_two_threads(self):
        report, found = self.run_and_predict("lap3d:12", "--threads", 2)
        self.assertEqual((found["about"]["origin"], found["about"]["matrix"]), ("measured", "lap3d:12"))
        for phase in ("ordering", "symbolic", "factorization", "solve"):
            self.assertIn(phase, found["phases"])
        self.assertEqual([thread["name"] for thread in found["threads"]], ["T0", "T1"])
        self.assertEqual(found["kinds"]["factor"]["states"], report["analysis"]["cblks"])
        path = found["critical_path"]
        self.assertEqual(path["unknown_tasks"], 0)
        self.assertTrue(0 < path["length_s"] <= path["makespan_s"], path)
        compared = found["comparison"]
        self.assertEqual(compared["matched_by"], "task")
        self.assertEqual(compared["kinds"]["factor"]["matched"], report["analysis"]["cblks"])
        self.assertEqual(compared["kinds"]["update"]["predicted_states"] > 0, True)
        self.assertAlmostEqual(compared["predicted_makespan_s"], report["analysis"]["predicted_factor_s"], delta=2e-9)

    def test_one_thread_shows_kinds_inside_the_subtree(self):
        report, found = self.run_and_predict("lap2d:20", "--threads", 1)
        kinds = found["comparison"]["kinds"]
        self.assertEqual(kinds["factor"]["matched"], report["analysis"]["cblks"])
        self.assertEqual(kinds["subtree"]["matched"], 1)
        self.assertGreater(kinds["update"]["predicted_s"], 0)


class UnlikeThings(CommandTest):
    def setUp(self):
        super().setUp()
        self.succeed("solve", "lap2d:8", "--threads", 1, "--trace", "run.paje", "--quiet")
        self.succeed("analyze", "lap2d:8", "--threads", 1, "--trace", "predicted.paje", "--quiet")

    def notes(self, *arguments):
        return self.report("trace", *arguments)["comparison"]["notes"]

    def test_a_phase_that_the_prediction_does_not_have(self):
        message = self.fail_with(USAGE, "trace", "run.paje", "--compare", "predicted.paje", "--phase", "assembly")
        self.assertIn("'assembly', which the predicted trace does not have; it has factorization, solve", message)
        found = self.report("trace", "run.paje", "--compare", "predicted.paje", "--phase", "all")
        self.assertEqual((found["window"]["phase"], found["comparison"]["phase"]), ("all", "factorization"))
        self.fail_with(USAGE, "trace", GOLDEN, "--compare", "predicted.paje")  # the trace has no factorization
        found = self.report("trace", GOLDEN, "--compare", "predicted.paje", "--phase", "all")
        self.assertEqual(found["comparison"]["phase"], "all")

    def test_the_sweeps_of_a_solve(self):
        found = self.report("trace", "run.paje", "--compare", "predicted.paje", "--phase", "solve")["comparison"]
        self.assertEqual((found["phase"], found["matched_by"]), ("solve", "task"))
        for kind in ("forward", "backward"):
            self.assertEqual(found["kinds"][kind]["matched"], found["kinds"][kind]["predicted_states"])
            self.assertGreater(found["kinds"][kind]["predicted_s"], 0)

    def test_notes_on_the_comparison(self):
        self.assertEqual(self.notes("run.paje", "--compare", "predicted.paje"), [])
        swapped = self.notes("predicted.paje", "--compare", "run.paje")
        self.assertEqual(swapped, ["'run.paje' is used as the predicted trace, but it was measured",
                                   "'predicted.paje' is used as the measured trace, but it was predicted"])
        self.assertIn("note: " + swapped[0], self.succeed("trace", "predicted.paje", "--compare", "run.paje"))
        arguments = ("run.paje", "--compare", "predicted.paje", "--from", "0.000001")
        self.assertEqual(self.notes(*arguments),
                         ["the comparison covers the whole factorization; --from and --to do not apply to it"])
        self.assertIn("compared: factorization\n", self.succeed("trace", *arguments))


class Misuse(CommandTest):
    def test_files_that_are_no_traces(self):
        self.write("text", "hello\n")
        self.write("empty", "")
        self.fail_each(BAD_INPUT, ("trace text", "text:1: "), ("trace empty",))
        self.fail_each(IO_ERROR, ("trace missing.paje", "missing.paje"))
        lines = GOLDEN.read_text().splitlines()
        self.write("wrong", "\n".join(lines[:-10] + ["9 99.000 S c77 S0 -1 -1 -1 0"]) + "\n")
        self.assertEqual(self.fail_with(BAD_INPUT, "trace", GOLDEN, "--compare", "wrong"),
                         f"wrong:{len(lines) - 9}: container 'c77' does not exist")

    def test_options_and_outputs(self):
        self.write("run.paje", GOLDEN.read_bytes())
        self.fail_each(USAGE, ("trace", "try 'espalier trace --help'"), *((f"trace run.paje {options}", part)
                       for options, part in (
            ("--phase ordering", "it has solve"), ("--from 1", "select no part of"), ("--from 2 --to 1", "--to"),
            ("--from=-1", "--from"), ("--from=nan", "--from"), ("--from=inf", "--from"), ("--from=1s", "--from"),
            ("--from=", "--from"), ("--color red", "kind, level"), ("--width 10", "--width"),
            ("--svg a.svg --html ./run.paje", "must end in .html"), ("--json ./run.paje", "same file"),
            ("--svg a.svg --json ./a.svg", "same file"), ("--png x.gif", "--png 'x.gif' must end in .png"),
            ("--svg x.png", "--svg 'x.png' must end in .svg"), ("--html x.svg", "--html 'x.svg' must end in .html"),
            ("--png x", "must end in .png"))))
        self.succeed("trace", "run.paje", "--svg", "a.svg.gz", "--png", "/dev/null", "--quiet")
        self.assertEqual(gzip.decompress((self.folder / "a.svg.gz").read_bytes())[:5], b"<svg ")
        self.fail_each(IO_ERROR, ("trace run.paje --compare nofile.paje", "--compare 'nofile.paje' cannot be read"))
        self.fail_with(IO_ERROR, "trace", "run.paje", "--html", "nowhere/page.html")
        self.assertEqual((self.folder / "run.paje").read_bytes(), GOLDEN.read_bytes())
