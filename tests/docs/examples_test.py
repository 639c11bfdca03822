"""Tests of examples.py: it finds marked blocks, and rejects unmarked ones."""

import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path

import examples

PAGE = """
Text.

<!-- example: one -->
```cpp
int main() {}
```

<!-- output: one -->

```text
nothing
```

<!-- fragment -->
```cpp
solver.factorize(a);
```

```text
A mark applies only to the next block.
```
"""

STEPS = """
![Steps](images/steps.svg)

<!-- example: steps -->
```sh
echo one; echo 2.5 s
```

<!-- output: steps -->
```text
one
```

<!-- output like: steps -->
```text
3.75 s
```

<!-- continue: steps -->
```sh
echo two
```

<!-- output: steps -->
```text
two
```

<!-- picture: steps -->
```sh
touch steps.svg
```
"""


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, text):
        page = self.folder / "page.md"
        page.write_text(text)
        return page

    def expect_mistake(self, text, message):
        with self.assertRaisesRegex(examples.Mistake, message):
            examples.examples_of([self.page(text)])

    def test_marked_blocks_are_found(self):
        found = examples.examples_of([self.page(PAGE)])
        self.assertEqual(list(found), ["one"])
        self.assertEqual((found["one"].language, found["one"].source), ("cpp", "int main() {}\n"))
        self.assertEqual(found["one"].output, "=nothing\n")

    def test_an_example_continues_in_later_blocks(self):
        found = examples.examples_of([self.page(STEPS)])["steps"]
        self.assertEqual(found.source, "echo one; echo 2.5 s\necho two\n")
        self.assertEqual(found.output, "=one\n~3.75 s\n=two\n")
        self.assertEqual(found.picture, "touch steps.svg\n")

    def test_mistakes_are_reported(self):
        self.expect_mistake("```cpp\nint i;\n```\n", "page.md:1: .* neither")
        self.expect_mistake("<!-- fragment -->\nText.\n```python\n```\n", "page.md:3: .* neither")
        self.expect_mistake("<!-- example: a -->\n```text\n```\n", "cannot be run")
        self.expect_mistake("<!-- output: a -->\n```text\n```\n", "no example")
        self.expect_mistake(PAGE + PAGE, "'one' is used by another example")
        self.expect_mistake("```\nno end\n", "not closed")
        self.expect_mistake("<!-- continue: a -->\n```sh\n```\n", "no example")
        self.expect_mistake("<!-- example: a -->\n```sh\n```\n<!-- continue: a -->\n```python\n```\n", "is in 'sh'")

    def test_different_output_and_failure_are_reported(self):
        expected = self.folder / "x.out"
        expected.write_text("=yes\n")
        with contextlib.redirect_stdout(io.StringIO()):
            examples.run(expected, ["echo", "yes"])
            with self.assertRaisesRegex(examples.Mistake, "different output"):
                examples.run(expected, ["echo", "no"])
            with self.assertRaisesRegex(examples.Mistake, "exit code 1"):
                examples.run(self.folder / "none", ["false"])
            with self.assertRaisesRegex(examples.Mistake, "standard error"), contextlib.redirect_stderr(io.StringIO()):
                examples.run(self.folder / "none", ["sh", "-c", "echo unasked >&2"])

    def test_numbers_may_differ_where_the_page_says_so(self):
        def matches(expected, output):
            return re.fullmatch(examples.pattern(expected), output) is not None

        self.assertTrue(matches("~time  0.25 s (-1e-16)\n", "time 1,310.5 s (2.25e+3)\n"))
        self.assertTrue(matches("~time 0.25 s, 3.1 MiB\n", "time 812 ms, 4 KiB\n"))
        self.assertFalse(matches("~time 0.25 s\n", "time 0.25 MiB\n"))
        self.assertFalse(matches("~time 0.25 s\n", "time s\n"))
        self.assertFalse(matches("=time 0.25 s\n", "time 0.26 s\n"))
        self.assertTrue(matches("=a\n=...\n=d\n", "a\nb\nc\nd\n"))
        self.assertFalse(matches("=a\n=...\n=d\n", "a\nb\nc\n"))
        self.assertFalse(matches("=a\n", "a\nb\n"))

    def test_pictures_are_drawn_by_their_examples(self):
        with contextlib.redirect_stdout(io.StringIO()):
            examples.draw(self.folder, [self.page(STEPS)])
        self.assertTrue((self.folder / "steps.svg").exists())
