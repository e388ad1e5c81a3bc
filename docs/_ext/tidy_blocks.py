"""Code blocks without the empty line that ends them in the source (the tests need it there)."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def strip_ends(app: Sphinx, doctree: nodes.document) -> None:
    """Take trailing empty lines off every block of code."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # otherwise Sphinx would not highlight it
            block.rawsource = block.rawsource.rstrip()
            block.children = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-read", strip_ends)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
