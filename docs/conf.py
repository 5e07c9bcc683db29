# SPDX-License-Identifier: GPL-2.0
"""How Sphinx makes the site: saakm docs runs it."""

import re
import subprocess
import sys

from saakm.base import paths
from saakm.builder import source

_, tree = source.default_tree()
# The kernel's own reader of kernel-doc comments.
sys.path.insert(0, str(tree / "Documentation/sphinx"))

project = "SaaKM"
html_theme = "furo"
html_title = "SaaKM: schedulers as kernel modules"
html_static_path = ["_static"]
html_css_files = ["saakm.css"]
html_show_sourcelink = False
html_show_copyright = False
extensions = ["myst_parser", "kerneldoc", "sphinx.ext.graphviz"]
exclude_patterns = ["examples"]
myst_heading_anchors = 4
# An option is to be copied: no dash shall become of its two hyphens.
smartquotes = False
highlight_language = "none"
graphviz_output_format = "svg"
kerneldoc_bin = str(tree / "scripts/kernel-doc")
kerneldoc_srctree = str(paths.LINUX)
kerneldoc_verbosity = 0
c_id_attributes = ["__percpu"]


# Pages of the repository that are none of the site: to be had as files.
_ELSEWHERE = re.compile(
    r"\]\(((?:\.\./)+(?!how-to|explanation|reference|tutorial|readme)[^)#]*\.(?:md|rst))\)"
)
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#]+)([^)]*)\)")
_README = re.compile(r"\]\(((?:\.\./)*)\.\./README\.md")


def _from_docs(match):
    """A link of the README, which begins at the top of the repository. Directories are no pages."""
    words, target, anchor = match.groups()
    if target.startswith("docs/"):
        return f"[{words}]({target.removeprefix('docs/')}{anchor})"
    file = paths.REPO / target
    if file.is_dir() and not (file / "README.md").exists():
        return words
    return f"[{words}](path:../{target}{'/README.md' if file.is_dir() else ''})"


def _read(app, page, text):
    text[0] = _ELSEWHERE.sub(r"](path:\1)", _README.sub(r"](\1readme.md", text[0]))
    if page == "readme":
        readme = paths.REPO / "README.md"
        app.env.note_dependency(str(readme))
        text[0] += _LINK.sub(_from_docs, readme.read_text())
    # Of the command line there is one source, and it is not a page.
    if page == "reference/cli":
        command = [sys.executable, "-m", "typer", "saakm.cli", "utils", "docs", "--name", "saakm"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # A list of half sentences; the page has its own table of contents.
        text[0] += re.sub(r"\*\*Commands\*\*:\n.*?(?=\n## )", "", said, count=1, flags=re.S)


def setup(app):
    app.connect("source-read", _read)
