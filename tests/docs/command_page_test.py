"""The manual page, the completions and the user guide list exactly the options of the command."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

COMMAND = os.environ["ESPALIER_COMMAND"]
MATRICES = Path(__file__).resolve().parents[2] / "matrices"
REFERENCE = Path(os.environ["ESPALIER_REFERENCE"])  # where the build writes what the command prints
PAGE = REFERENCE / "espalier.1"
GUIDE = Path(__file__).resolve().parents[2] / "docs/user-guide.md"
COMMANDS = ["solve", "analyze", "compare", "simulate", "generate", "trace", "machine", "dense"]


def options_of(command):
    """The long options that `espalier COMMAND --help` explains, one at the head of each entry."""
    words = [COMMAND, *([command] if command else []), "--help"]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", text, re.MULTILINE))
    assert found, f"no options in {' '.join(words)}"
    return found | {"help"}


ALL = set().union(*(options_of(command) for command in ["", *COMMANDS]))


class CommandPage(unittest.TestCase):
    def expect_all(self, where, mentioned):
        self.assertEqual(mentioned - ALL, set(), f"{where} has options that the command does not have")
        self.assertEqual(ALL - mentioned, set(), f"{where} lacks options")

    def test_manual_page_has_every_option(self):
        # ".Fl -help | -version" names two.
        self.expect_all(PAGE.name, set(re.findall(r"(?:\bFl|\|) -([a-z][a-z-]*)", PAGE.read_text())))

    def test_manual_page_is_well_formed(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGE], capture_output=True, text=True)
        self.assertEqual(done.stdout, "")

    def test_completions_have_every_option(self):
        for name, pattern in [("espalier.bash", r"--([a-z][a-z-]*)"), ("espalier.fish", r"(?m)^complete .* -l ([a-z-]+)"),
                              ("_espalier", r"--([a-z][a-z-]*)")]:
            self.expect_all(name, set(re.findall(pattern, (REFERENCE / name).read_text())))

    def test_user_guide_has_every_option_of_solve(self):
        section = GUIDE.read_text().split("\n## Options of solve\n")[1].split("\n## ")[0]
        self.assertEqual(sorted(re.findall(r"^\| `--([a-z-]+)", section, re.MULTILINE)), sorted(options_of("solve")))

    def complete(self, *words):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _espalier; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-euc", script, "bash", REFERENCE / "espalier.bash", "espalier", *words],
                              check=True, capture_output=True, text=True, cwd=MATRICES)
        return set(done.stdout.split())

    def test_bash_completes_options_of_each_command(self):
        for command in COMMANDS:
            self.assertEqual(self.complete(command, "--"), {f"--{option}" for option in options_of(command)}, command)

    def test_bash_completes_values_and_files(self):
        self.assertEqual(self.complete("so"), {"solve"})
        self.assertEqual(self.complete("solve", "--matching", "o"), {"on", "off"})
        self.assertEqual(self.complete("analyze", "sadd"), {"saddle3d_2.mtx"})
        self.assertEqual(self.complete("solve", "--threads", ""), set())

    def test_other_shells_accept_their_files(self):
        for shell, name in [("fish", "espalier.fish"), ("zsh", "_espalier")]:
            if shutil.which(shell):
                subprocess.run([shell, "-n", REFERENCE / name], check=True)
