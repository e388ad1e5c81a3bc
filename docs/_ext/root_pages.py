"""The files of the repository's root (README and the like) as pages of the site.

On a code host the page is a link to the file; here it is the file itself. Links between these files
and the pages are the code host's, and are turned into the site's.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

# the page that shows a file, or that says the same at length
PAGES = {
    "README.md": "readme",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "develop/contributing",
    "SECURITY.md": "security",
}
SHOWN = {page: file for file, page in PAGES.items() if page != "security"}
LINK_FROM_ROOT = re.compile(r"\]\((?![a-z]+:|#|docs/)")
LINK_TO_ROOT = re.compile(rf"\]\((?:\.\./)+({'|'.join(map(re.escape, PAGES))})")


def show_file(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the file in the place of the page that stands for it; let links lead to pages."""
    text = source[0]
    if docname in SHOWN:
        path = Path(app.srcdir).parent / SHOWN[docname]
        app.env.note_dependency(path)
        up = "../" * (1 + docname.count("/"))
        text = LINK_FROM_ROOT.sub(f"]({up}", path.read_text(encoding="utf-8"))
        text = text.replace("](docs/", "](/")
    source[0] = LINK_TO_ROOT.sub(lambda found: f"](/{PAGES[found[1]]}.md", text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", show_file)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
