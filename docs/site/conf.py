"""The settings of Sphinx, which makes a site of the Markdown pages in docs. `tools/site` runs it."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/python"))

project = "Espalier"
version = release = os.environ["ESPALIER_VERSION"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
pygments_style = "friendly"
smartquotes = False
default_role = "code"

# The reference of the Python package is made from its sources, without the compiled module.
autodoc_mock_imports = ["espalier._core"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 2}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "Espalier"
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False


def to_restructured_text(app, what, name, value, options, lines):
    """Docstrings are plain text with indented examples and with one "keyword: meaning" for each argument."""
    written, keyword, example = [], False, False
    for line in lines:
        argument = re.match(r"(\w+): ", line)
        if argument:
            if not keyword:
                written.append("")
            written.append(f"* **{argument[1]}**: {line[argument.end():]}")
            keyword = True
        elif keyword and line.startswith(" "):
            written.append("  " + line.strip())
        elif line.startswith("    ") and not keyword and (example or not written or not written[-1]):
            written += [line] if example else ["::", "", line]
            example = True
        else:
            keyword = example = False
            written.append(line)
    inside = [line if line.startswith("    ") else line.replace("|", r"\|") for line in written]
    lines[:] = inside + [""]


def setup(app):
    app.connect("autodoc-process-docstring", to_restructured_text)
