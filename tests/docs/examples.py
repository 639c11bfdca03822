"""Extracts the examples of the documentation and runs them. README.md describes their marks.

    examples.py extract OUT PAGE...         writes NAME.cpp ... and NAME.out into OUT, prints "NAME LANGUAGE" lines
    examples.py run EXPECTED COMMAND...     runs a command in an empty directory; its output must equal the file
                                            EXPECTED if that exists
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SUFFIXES = {"c": "c", "cpp": "cpp", "fortran": "f90", "python": "py", "sh": "sh"}
MUST_BE_MARKED = {"c", "cpp", "fortran", "python"}
MARK = re.compile(r"<!--\s*(?:(example|output):\s*(\w+)|(fragment))\s*-->")
FENCE = re.compile(r"^```(\w*)\s*$")


class Mistake(Exception):
    pass


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


def examples_of(pages):
    """Returns {name: (language, source)} and {name: expected output}."""
    sources, outputs = {}, {}
    for page in pages:
        for line, language, mark, text in blocks(page.read_text(encoding="utf-8")):
            where = f"{page.name}:{line}"
            if not mark:
                if language in MUST_BE_MARKED:
                    raise Mistake(f"{where}: the {language} block is marked neither as example nor as fragment")
                continue
            kind, name = mark[1], mark[2]
            if kind == "example":
                if language not in SUFFIXES:
                    raise Mistake(f"{where}: examples in '{language}' cannot be run")
                if name in sources:
                    raise Mistake(f"{where}: the name '{name}' is used by another example")
                sources[name] = (language, text)
            elif kind == "output":
                outputs[name] = text
    for name in sorted(set(outputs) - set(sources)):
        raise Mistake(f"output '{name}' belongs to no example")
    return sources, outputs


def write_changed(path, text):
    """Writes a file only if its content changes, so that it is not compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(out, pages):
    sources, outputs = examples_of(pages)
    out.mkdir(parents=True, exist_ok=True)
    for name, (language, text) in sources.items():
        write_changed(out / f"{name}.{SUFFIXES[language]}", text)
        if name in outputs:
            write_changed(out / f"{name}.out", outputs[name])
        else:
            (out / f"{name}.out").unlink(missing_ok=True)
        print(name, language)


def run(expected, command):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=120)
    print(done.stdout, end="")
    if done.returncode != 0:
        raise Mistake(f"the example ended with exit code {done.returncode}")
    if expected.exists():
        def lines(text):
            return [line.rstrip() for line in text.strip("\n").splitlines()]

        if lines(done.stdout) != lines(expected.read_text(encoding="utf-8")):
            raise Mistake(f"the documentation shows different output:\n{expected.read_text(encoding='utf-8')}")


def main():
    try:
        if sys.argv[1] == "extract":
            extract(Path(sys.argv[2]), [Path(page) for page in sys.argv[3:]])
        else:
            run(Path(sys.argv[2]), sys.argv[3:])
    except Mistake as mistake:
        print(f"examples: {mistake}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
