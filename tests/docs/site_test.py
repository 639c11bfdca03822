"""Tests of tools/site: dead links are found, the reference of Python has every name, and the site can be built."""

import ast
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools/site"


def load_tool():
    loader = importlib.machinery.SourceFileLoader("site_tool", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_tool", loader))
    loader.exec_module(module)
    return module


tool = load_tool()
MISSING = [name for name in tool.MODULES if importlib.util.find_spec(name) is None]


class Promises(unittest.TestCase):
    def test_runs_are_promised_the_same_bits_for_the_same_cost_model_only(self):
        found = []
        for page in sorted((ROOT / "docs").rglob("*.md")):
            for sentence in re.split(r"(?<=[.|])\s", page.read_text().replace("\n", " ")):
                if re.search(r"same bits in each run|[Rr]uns with .*same bits", sentence):
                    found.append(page.name)
                    self.assertIn("cost model", sentence, page.name)
        self.assertIn("clusters.md", found)


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_dead_links_are_found(self):
        (self.folder / "a.html").write_text('<p id="here"><a href="b.html#there">b</a> <a href="#here">a</a>'
                                            '<a href="https://example.org/">elsewhere</a>')
        (self.folder / "b.html").write_text('<p id="there"><a href="a.html">a</a>')
        self.assertEqual(list(tool.dead_links(self.folder)), [])
        (self.folder / "b.html").write_text('<p><a href="c.html">c</a> <script src="https://example.org/x.js">')
        self.assertEqual(sorted(tool.dead_links(self.folder)),
                         ["a.html: b.html#there has no such anchor", "b.html: c.html does not exist",
                          "b.html: loads https://example.org/x.js"])

    def test_the_reference_of_python_has_every_name(self):
        source = (ROOT / "tools/python/espalier/__init__.py").read_text()
        (names,) = [ast.literal_eval(node.value) for node in ast.parse(source).body
                    if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
        page = (ROOT / "docs/site/python-reference.md").read_text()
        self.assertEqual(sorted(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.M)), sorted(set(names) - {"__version__"}))

    def test_a_folder_with_other_files_is_not_replaced(self):
        (self.folder / "mine").touch()
        done = subprocess.run([sys.executable, "-B", TOOL, "--output", self.folder], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue((self.folder / "mine").exists())

    @unittest.skipIf(MISSING or not shutil.which("doxygen"), f"not installed: {' '.join(MISSING) or 'doxygen'}")
    def test_the_site_is_built(self):
        site = self.folder / "site"
        done = subprocess.run([sys.executable, "-B", TOOL, "--output", site], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for page in ["index.html", "tutorials/stokes.html", "headers/files.html", "site/python-reference.html"]:
            self.assertTrue((site / page).exists(), page)
        self.assertIn('id="espalier.Solver.factorize"', (site / "site/python-reference.html").read_text())
