"""Who is told of progress and of choices: the caller's functions, a bar in a terminal, a logger."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Optional, TextIO, Union

# Called with the name of a phase and the fraction of it that is done, None where that is not known.
Progress = Union[None, bool, Callable[[str, Optional[float]], object]]
# Called with one line at a time.
Log = Union[None, bool, Callable[[str], object], logging.Logger]


class Bar:
    """One line in a terminal, redrawn while a phase goes on and erased when it ends."""

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
        self.out.write(f"\r\x1b[K{line}")
        self.out.flush()


def progress_function(progress: Progress) -> Callable[[str, Optional[float]], object] | None:
    """True: a bar, where standard error is a terminal."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
    if not callable(progress):
        raise TypeError("progress: give a function of a phase and a fraction, or True")
    return progress


def log_function(log: Log) -> Callable[[str], object] | None:
    """True: the logger named "espalier", at level INFO."""
    if log is None or log is False:
        return None
    if log is True:
        log = logging.getLogger("espalier")
    if isinstance(log, logging.Logger):
        return log.info
    if not callable(log):
        raise TypeError("log: give a function of a line, a logging.Logger, or True")
    return log
