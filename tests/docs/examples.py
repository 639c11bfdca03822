"""Extracts the examples of the documentation and runs them. README.md describes their marks.

    examples.py extract OUT PAGE...         writes NAME.cpp ... and NAME.out into OUT, prints "NAME LANGUAGE" lines
    examples.py run EXPECTED COMMAND...     runs a command in an empty directory; its output must equal the file
                                            EXPECTED if that exists, and standard error be empty
    examples.py pictures IMAGES PAGE...     runs the examples that draw pictures of the pages and writes these into
                                            IMAGES; needs the command and the Python package on their paths
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUFFIXES = {"c": "c", "cpp": "cpp", "fortran": "f90", "python": "py", "sh": "sh"}
MUST_BE_MARKED = {"c", "cpp", "fortran", "python"}
RUN = {"python": [sys.executable], "sh": ["bash", "-eu"]}
MARK = re.compile(r"<!--\s*(?:(example|continue|output|output like|picture):\s*(\w+)|(fragment))\s*-->")
FENCE = re.compile(r"^```(\w*|\{[\w-]+\})\s*$")
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*images/([^)/]+)\)")
NUMBER = re.compile(r"-?\d[\d.,]*(?:e[+-]?\d+)?")
UNITS = (("ns", "us", "ms", "s"), ("B", "KiB", "MiB", "GiB"), ("kflop", "Mflop", "Gflop"))


class Mistake(Exception):
    pass


class Example:
    """A program, the code that draws its picture, the lines that it prints, and the page that has it."""

    def __init__(self, page, language, source):
        self.page, self.language, self.source = page, language, source
        self.picture = ""
        self.output = ""  # begins each line with "=" if it is exact, and with "~" if its numbers may differ


def blocks(text):
    """Yields every fenced block as (line number, language, the mark before it or None, the text inside)."""
    mark, language, begin, inside = None, None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if language is not None:
            if fence:
                yield begin, language, mark, "\n".join(inside) + "\n"
                language, mark, inside = None, None, []
            else:
                inside.append(line)
        elif fence:
            language, begin = fence[1], number
        elif line.strip():
            mark = MARK.fullmatch(line.strip())
    if language is not None:
        raise Mistake(f"line {begin}: the block is not closed")


def add_block(examples, where, page, language, kind, name, text):
    """Adds one marked block to the examples."""
    if kind == "example":
        if language not in SUFFIXES:
            raise Mistake(f"{where}: examples in '{language}' cannot be run")
        if name in examples:
            raise Mistake(f"{where}: the name '{name}' is used by another example")
        examples[name] = Example(page, language, text)
        return
    example = examples.get(name)
    if not example:
        raise Mistake(f"{where}: '{kind}: {name}' belongs to no example above it")
    if kind.startswith("output"):
        sign = "=" if kind == "output" else "~"
        example.output += "".join(f"{sign}{line}\n" for line in text.strip("\n").splitlines())
    elif language != example.language:
        raise Mistake(f"{where}: the example '{name}' is in '{example.language}', not in '{language}'")
    elif kind == "continue":
        example.source += text
    else:
        example.picture += text


def examples_of(pages):
    """Returns {name: Example}."""
    examples = {}
    for page in pages:
        for line, language, mark, text in blocks(page.read_text(encoding="utf-8")):
            where = f"{page.name}:{line}"
            if mark and not mark[3]:
                add_block(examples, where, page, language, mark[1], mark[2], text)
            elif not mark and language in MUST_BE_MARKED:
                raise Mistake(f"{where}: the {language} block is marked neither as example nor as fragment")
    return examples


def write_changed(path, text):
    """Writes a file only if its content changes, so that it is not compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(out, pages):
    examples = examples_of(pages)
    out.mkdir(parents=True, exist_ok=True)
    for name, example in examples.items():
        write_changed(out / f"{name}.{SUFFIXES[example.language]}", example.source)
        if example.output:
            write_changed(out / f"{name}.out", example.output)
        else:
            (out / f"{name}.out").unlink(missing_ok=True)
        print(name, example.language)


def word_pattern(word):
    """Returns the regular expression of a word, in which every number and unit may be another one."""
    bare = word.strip("(),;:")
    for units in UNITS:
        if bare in units:
            before, after = word.split(bare, 1)
            return f"{re.escape(before)}(?:{'|'.join(units)}){re.escape(after)}"
    return r"[-\d.,e+]+".join(map(re.escape, NUMBER.split(word)))


def pattern(expected):
    """Returns the regular expression of an output. A line "..." stands for any lines."""
    lines = []
    for line in expected.splitlines():
        sign, text = line[0], line[1:].rstrip()
        if text.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        elif sign == "=":
            lines.append(re.escape(text) + r"[ \t]*\n")
        else:
            lines.append(r"[ \t]*" + r"[ \t]+".join(map(word_pattern, text.split())) + r"[ \t]*\n")
    return "".join(lines)


def run(expected, command):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    if done.returncode != 0:
        raise Mistake(f"the example ended with exit code {done.returncode}")
    if done.stderr:
        raise Mistake("the example printed to standard error, which only failures do")
    if expected.exists():
        text = expected.read_text(encoding="utf-8")
        if not re.fullmatch(pattern(text), done.stdout.strip("\n") + "\n"):
            raise Mistake(f"the documentation shows different output (~: numbers may differ):\n{text}")


def draw(images, pages):
    """Runs every example whose page has pictures and that can write them."""
    examples = examples_of(pages)
    for page in pages:
        wanted = set(IMAGE.findall(page.read_text(encoding="utf-8")))
        for name, example in examples.items():
            drawn = {image for image in wanted if image in example.source + example.picture}
            if example.page != page or not drawn:
                continue
            with tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / f"program.{SUFFIXES[example.language]}"
                program.write_text(example.source + example.picture, encoding="utf-8")
                done = subprocess.run([*RUN[example.language], program.name], cwd=folder, stdout=subprocess.DEVNULL)
                if done.returncode != 0:
                    raise Mistake(f"the example {name} ended with exit code {done.returncode}")
                for image in sorted(drawn):
                    shutil.copy(Path(folder) / image, images / image)
                    print(images / image)


def main():
    try:
        if sys.argv[1] == "extract":
            extract(Path(sys.argv[2]), [Path(page) for page in sys.argv[3:]])
        elif sys.argv[1] == "pictures":
            draw(Path(sys.argv[2]), [Path(page) for page in sys.argv[3:]])
        else:
            run(Path(sys.argv[2]), sys.argv[3:])
    except Mistake as mistake:
        print(f"examples: {mistake}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
