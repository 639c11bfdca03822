"""Runs the command `espalier`, which wheels of tools/wheel contain."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the command."""
    program = Path(__file__).parent / "bin" / "espalier"
    if not program.exists():
        sys.exit("espalier: error: this package was built without the command; build it with tools/wheel or with CMake")
    os.execv(program, ["espalier", *sys.argv[1:]])
