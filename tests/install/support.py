"""Helpers of the test suites: paths of the build under test, and running programs."""

import os
import subprocess
import tempfile
from pathlib import Path

BUILD = Path(os.environ["ESPALIER_BUILD"])
SOURCE = Path(os.environ["ESPALIER_SOURCE"])
LIBRARY = Path(os.environ["ESPALIER_LIBRARY"])
CMAKE = os.environ["ESPALIER_CMAKE"]
COMPILERS = {language: os.environ[f"ESPALIER_{language.upper()}_COMPILER"] for language in ("C", "CXX", "Fortran")}


def run(*words, **settings):
    """Runs a program and returns its output. Raises AssertionError with the output if the program fails."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **settings)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def scratch(test):
    """Creates an empty directory that is removed after the test class or test."""
    folder = tempfile.TemporaryDirectory(prefix="espalier-install-")
    (test.addClassCleanup if isinstance(test, type) else test.addCleanup)(folder.cleanup)
    return Path(folder.name)
