"""Helpers of the tests of the command: running it, small matrices, and backward errors."""

import gzip
import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

RELEASE = Path(__file__).resolve().parents[2] / "build/release/bin/espalier"
COMMAND = os.environ.get("ESPALIER_COMMAND", str(RELEASE))
os.environ.setdefault("ESPALIER_CALIBRATION", "off")  # tests write to no home directory

OK, INTERNAL, USAGE, BAD_INPUT, IO_ERROR, SINGULAR, NOT_POSITIVE, INACCURATE, MEMORY, UNSUPPORTED, CANCELLED = range(11)


class CommandTest(unittest.TestCase):
    """Each test has an empty directory of its own, `self.folder`, in which the command runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_command(self, *arguments, environment=None, launcher=(), **how):
        return subprocess.run([*launcher, COMMAND, *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder, timeout=120, stdin=subprocess.DEVNULL,
                              env=os.environ | (environment or {}), **how)

    def succeed(self, *arguments, **how):
        """Runs the command, expects exit code 0 and nothing on standard error, and returns the standard output."""
        done = self.run_command(*arguments, **how)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)
        return done.stdout

    def fail_with(self, code, *arguments):
        """Runs the command, expects this exit code and one error line, and returns the message."""
        done = self.run_command(*arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertRegex(done.stderr, r"\Aespalier: error: [^\n]+\n\Z")
        return done.stderr.removeprefix("espalier: error: ").rstrip("\n")

    def fail_each(self, code, *cases):
        """Each case is a command line that fails with this code, and parts of its message."""
        for line, *parts in cases:
            with self.subTest(line=line):
                message = self.fail_with(code, *shlex.split(line))
                for part in parts:
                    self.assertIn(part, message)

    def report(self, *arguments, code=OK, environment=None):
        """The object that `... --json -` writes."""
        done = self.run_command(*arguments, "--json", "-", environment=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return strict_json(done.stdout)

    def read_json(self, name):
        return strict_json((self.folder / name).read_text())

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
        return path

    def write_matrix(self, name, n, entries, symmetry="general", field="real"):
        """A Matrix Market file of `n` rows from {(row, column): value}, 0-based."""
        def number(value):
            return f"{value.real!r} {value.imag!r}" if field == "complex" else repr(value)

        lines = [f"{i + 1} {j + 1} {number(value)}" for (i, j), value in entries.items()]
        return self.write(name, f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {len(lines)}\n"
                          + "\n".join(lines) + "\n")

    def names(self):
        """The names of all files in the directory, including hidden ones."""
        return sorted(path.name for path in self.folder.iterdir())


def strict_json(text):
    """Parses JSON, and refuses NaN and Infinity, which Python accepts."""
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")
    return json.loads(text, parse_constant=refuse)


def read_text(path):
    path = Path(path)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return file.read()


def read_matrix(path):
    """(n, {(row, column): value}) with both triangles, from a Matrix Market coordinate file."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    _, _, _, field, symmetry = lines[0].lower().split()
    body = [line.split() for line in lines[1:] if not line.startswith("%")]
    n = int(body[0][0])
    entries = {}
    for i, j, *value in body[1:]:
        i, j = int(i) - 1, int(j) - 1
        value = complex(float(value[0]), float(value[1])) if field == "complex" else float(value[0])
        entries[i, j] = value
        if i != j and symmetry != "general":
            entries[j, i] = value.conjugate() if symmetry == "hermitian" else value
    assert len(body) - 1 == int(body[0][2])
    return n, entries


def read_array(path_or_text):
    """The columns of a Matrix Market array."""
    text = path_or_text if isinstance(path_or_text, str) else read_text(path_or_text)
    lines = [line for line in text.splitlines() if line.strip()]
    banner = lines[0].lower().split()
    assert banner[:3] == ["%%matrixmarket", "matrix", "array"], banner
    body = [line.split() for line in lines[1:] if not line.startswith("%")]
    rows, cols = map(int, body[0])
    values = [complex(float(v[0]), float(v[1])) if banner[3] == "complex" else float(v[0]) for v in body[1:]]
    assert len(values) == rows * cols
    return [values[j * rows:(j + 1) * rows] for j in range(cols)]


def laplacian(n, ends=2.0):
    """The lower triangle of a tridiagonal matrix; `ends` is its first and its last diagonal entry."""
    entries = {(i, i): 2.0 for i in range(n)} | {(i + 1, i): -1.0 for i in range(n - 1)}
    return entries | {(0, 0): ends, (n - 1, n - 1): ends}


def backward_error(matrix, x, b):
    """|b - A x| / (|A| |x| + |b|) in infinity norms."""
    n, entries = matrix
    residual, row_sums = list(b), [0.0] * n
    for (i, j), value in entries.items():
        residual[i] -= value * x[j]
        row_sums[i] += abs(value)
    scale = max(row_sums) * max(map(abs, x)) + max(map(abs, b))
    return max(map(abs, residual)) / scale
