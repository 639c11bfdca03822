"""Tests of examples.py: it finds marked blocks, and rejects unmarked ones."""

import contextlib
import io
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
        sources, outputs = examples.examples_of([self.page(PAGE)])
        self.assertEqual(sources, {"one": ("cpp", "int main() {}\n")})
        self.assertEqual(outputs, {"one": "nothing\n"})

    def test_mistakes_are_reported(self):
        self.expect_mistake("```cpp\nint i;\n```\n", "page.md:1: .* neither")
        self.expect_mistake("<!-- fragment -->\nText.\n```python\n```\n", "page.md:3: .* neither")
        self.expect_mistake("<!-- example: a -->\n```text\n```\n", "cannot be run")
        self.expect_mistake("<!-- output: a -->\n```text\n```\n", "no example")
        self.expect_mistake(PAGE + PAGE, "'one' is used by another example")
        self.expect_mistake("```\nno end\n", "not closed")

    def test_different_output_and_failure_are_reported(self):
        expected = self.folder / "x.out"
        expected.write_text("yes\n")
        with contextlib.redirect_stdout(io.StringIO()):
            examples.run(expected, ["echo", "yes"])
            with self.assertRaisesRegex(examples.Mistake, "different output"):
                examples.run(expected, ["echo", "no"])
            with self.assertRaisesRegex(examples.Mistake, "exit code 1"):
                examples.run(self.folder / "none", ["false"])
