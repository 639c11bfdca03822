"""Receivers of progress and log lines: functions of the caller, a progress bar in a terminal, a logger."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Optional, TextIO, Union

# A function is called with the name of a phase and the completed fraction, or None if that is unknown.
Progress = Union[None, bool, Callable[[str, Optional[float]], object]]
# A function is called with one line at a time.
Log = Union[None, bool, Callable[[str], object], logging.Logger]


class Bar:
    """A progress bar in one line of a terminal, redrawn during a phase and erased at its end."""

    width = 30

    def __init__(self, out: TextIO) -> None:
        self.out = out

    def __call__(self, phase: str, fraction: float | None) -> None:
        if fraction == 1.0:
            line = ""
        elif fraction is None:
            line = f"{phase:<24}"
        else:
            filled = int(self.width * fraction)
            line = f"{phase:<24}[{'#' * filled}{'.' * (self.width - filled)}] {100 * fraction:3.0f} %"
        self.draw(line)

    def draw(self, line: str) -> None:
        self.out.write(f"\r\x1b[K{line}")
        self.out.flush()


class NotebookBar(Bar):
    """A progress bar in the output of a notebook, which is not a terminal but interprets carriage returns."""

    length = 0

    def draw(self, line: str) -> None:
        self.out.write(f"\r{line:<{self.length}}")
        if not line:
            self.out.write("\r")
        self.length = len(line)
        self.out.flush()


def progress_function(progress: Progress) -> Callable[[str, Optional[float]], object] | None:
    """The receiver of progress. True is a bar if standard error is a terminal or the output of a notebook."""
    if progress is None or progress is False:
        return None
    if progress is True:
        if type(sys.stderr).__module__.partition(".")[0] == "ipykernel":
            return NotebookBar(sys.stderr)
        return Bar(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
    if not callable(progress):
        raise TypeError("progress must be a function of a phase and a fraction, or True")
    return progress


def log_function(log: Log) -> Callable[[str], object] | None:
    """The receiver of log lines. True is the logger named "espalier", at level INFO."""
    if log is None or log is False:
        return None
    if log is True:
        log = logging.getLogger("espalier")
    if isinstance(log, logging.Logger):
        return log.info
    if not callable(log):
        raise TypeError("log must be a function of a line, a logging.Logger, or True")
    return log
