"""The output in a terminal, and the state after an interrupt."""

import os
import pty
import re
import signal
import subprocess
import time

from support import CANCELLED, COMMAND, IO_ERROR, USAGE, CommandTest

# Half a second of factorization on a fast core; sanitizers make it a hundred times slower.
LONG = "elast3d:18" if os.environ.get("ESPALIER_SANITIZE") else "elast3d:26"
VERY_LONG = "lap3d:80"  # Interrupted long before it could end.


class Terminal(CommandTest):
    def test_shows_a_bar_that_is_gone_at_the_end(self):
        shown, text = self.show("solve", LONG, "--threads", "1")
        self.assertRegex(shown, r"factorization +\[#*\.*\] +\d+ %")
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown[-80:]))
        self.assertNotIn("\n", shown)
        self.assertIn("status          ok", text)

    def test_quiet_shows_no_bar(self):
        self.assertEqual(self.show("solve", "lap3d:25", "--quiet"), ("", ""))

    def show(self, *arguments):
        """Returns the text that a terminal at standard error receives, and the standard output."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=theirs, cwd=self.folder,
                                   env=os.environ | {"TERM": "xterm"}, text=True)
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        text = process.communicate()[0]
        self.assertEqual(process.returncode, 0)
        return shown.decode(), text


class NobodyReads(CommandTest):
    def exit_code(self, *arguments, **streams):
        return subprocess.run([COMMAND, *arguments], cwd=self.folder, timeout=60, **streams).returncode

    def test_errors_that_cannot_be_written_keep_their_exit_codes(self):
        with open("/dev/full", "w") as full:
            for code, *arguments in ((IO_ERROR, "solve", "missing.mtx"), (USAGE, "solve", "lap3d:3", "--bogus"),
                                     (USAGE, "slove")):
                self.assertEqual(self.exit_code(*arguments, stdout=subprocess.DEVNULL, stderr=full), code, arguments)

    def test_output_that_cannot_be_written_is_an_error(self):
        for arguments in (["solve", "lap3d:6"], ["--help"], ["--version"], ["generate", "lap3d:3", "-o", "a.mtx"],
                          ["analyze", "lap3d:6"], ["compare", "lap3d:3", "--vary", "threads=1"],
                          ["machine", "--dgemm-order", "50"], ["dense", "--n", "20"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                self.assertEqual(self.exit_code(*arguments, stdout=full, stderr=full), IO_ERROR)
            ours, theirs = os.pipe()
            os.close(ours)
            with self.subTest(pipe=arguments):
                self.assertEqual(self.exit_code(*arguments, stdout=theirs, stderr=theirs), IO_ERROR)
            os.close(theirs)


class Interrupt(CommandTest):
    def interrupted(self, number, *arguments, when):
        process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder)
        deadline = time.monotonic() + 60
        while not when(process):
            self.assertIsNone(process.poll(), "ended before it was interrupted")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (CANCELLED, "espalier: error: interrupted\n"))

    def test_of_a_solve_ends_with_one_line_and_no_files(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                started = time.monotonic()
                self.interrupted(number, "solve", VERY_LONG, "--json", "r.json", "--output", "x.mtx",
                                 when=lambda _: time.monotonic() > started + 0.3)
                self.assertEqual(self.names(), [])

    def test_of_a_generate_removes_what_was_written_so_far(self):
        self.interrupted(signal.SIGINT, "generate", "lap3d:150", "-o", "a.mtx.gz", when=lambda _: self.names())
        self.assertEqual(self.names(), [])

    def test_a_reader_that_leaves_is_an_error_of_standard_output(self):
        process = subprocess.Popen([COMMAND, "generate", "lap3d:30"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(), 4)
        self.assertTrue(re.fullmatch(r"espalier: error: cannot write to standard output[^\n]*\n", errors), errors)
