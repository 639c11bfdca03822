"""If memory is lacking at any time, from the first option to the last line of output, the command ends with one line
and exit code 8."""

import os
import resource
import unittest

from support import MEMORY, OK, CommandTest


@unittest.skipUnless(os.environ.get("ESPALIER_FAILING_NEW"), "a sanitizer has an operator new of its own")
class LackOfMemory(CommandTest):
    def ends_properly(self, allocation, lasts, *arguments):
        """Whether the command ended before it reached this allocation."""
        environment = {"LD_PRELOAD": os.environ["ESPALIER_FAILING_NEW"], "FAILING_NEW": str(allocation)}
        if lasts:
            environment["FAILING_NEW_LASTS"] = "1"
        done = self.run_command(*arguments, environment=environment)
        with self.subTest(allocation=allocation, lasts=lasts):
            self.assertIn(done.returncode, (OK, MEMORY), done.stderr)
            if done.returncode == MEMORY:
                self.assertRegex(done.stderr, r"\Aespalier: error: [^\n]*memory[^\n]*\n\Z")
                self.assertEqual(self.names(), [])
            else:
                self.assertEqual(done.stderr, "")
        return done.returncode == OK

    def try_some(self, *arguments):
        for lasts in (True, False):
            allocation, ended, failed = 0, False, 0
            while not ended:
                ended = self.ends_properly(allocation, lasts, *arguments)
                failed += not ended
                allocation = allocation * 3 // 2 + 7
            self.assertGreater(failed, 5)
            for name in self.names():
                (self.folder / name).unlink()

    def test_ends_a_solve_with_one_line(self):
        self.try_some("solve", "lap2d:5", "--threads", 1, "--json", "r.json", "--output", "x.mtx", "--quiet")

    def test_ends_other_commands_with_one_line(self):
        self.try_some("generate", "lap2d:4", "--output", "a.mtx", "--quiet")
        self.try_some("solve", "--help")


@unittest.skipIf(os.environ.get("ESPALIER_SANITIZE"), "a sanitizer reserves terabytes of addresses")
class LimitOfAddresses(CommandTest):
    # The threads of OpenBLAS try for ever to get 128 MiB each.
    def test_ends_a_command_that_has_few_addresses(self):
        for mebibytes in 110, 130, 150, 200:
            limit = mebibytes << 20
            done = self.run_command("solve", "lap3d:8", "--threads", 1, "--quiet",
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            with self.subTest(mebibytes=mebibytes):
                self.assertTrue(done.returncode == OK or done.stderr, done.returncode)
