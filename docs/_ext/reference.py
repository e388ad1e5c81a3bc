"""How the API reference is made: which members are shown, and what a word in backticks means."""

from __future__ import annotations

import inspect
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def is_foreign(member: Any) -> bool:
    """Whether a member comes from another library: scikit-learn explains its own methods."""
    function = member.fget if isinstance(member, property) else inspect.unwrap(member)
    home = getattr(function, "__module__", None) or ""
    return not home.startswith("eigensieve")


def skip_foreign(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out methods and properties that are inherited from other libraries."""
    is_code = callable(member) or isinstance(member, property | classmethod | staticmethod)
    if what == "class" and is_code and is_foreign(member):
        return True
    return None


def leave_word(
    app: Sphinx, env: Any, node: nodes.Element, contnode: nodes.Element
) -> nodes.Element | None:
    """A word in single backticks that is no name of the reference stays a piece of code."""
    return contnode if node.get("reftype") == "obj" else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("missing-reference", leave_word)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
