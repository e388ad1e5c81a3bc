"""What the tests of the site read off a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

# the attributes by which an element loads another file
SOURCES = ("src", "data", "poster", "srcset")


@dataclass
class Page:
    """A page: its headline, anchors, links, and the files that it loads to be shown."""

    path: Path
    headline: str = ""
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self.inside = ""
        self.in_headerlink = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("h1", "script"):
            self.inside = tag
        self.in_headerlink = "headerlink" in given.get("class", "")
        self.page.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        elif tag == "link" and "href" in given:
            # what the browser fetches by itself; "next", "search" and the like are links
            fetched = {"stylesheet", "preload", "icon", "prefetch", "preconnect", "dns-prefetch"}
            kinds = set(given.get("rel", "").split())
            (self.page.loaded if kinds & fetched else self.page.links).append(given["href"])
        self.page.loaded.extend(given[name] for name in SOURCES if given.get(name))

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self.inside = ""
        if tag == "a":
            self.in_headerlink = False

    def handle_data(self, data: str) -> None:
        if self.inside == "h1" and not self.in_headerlink:
            self.page.headline += data
        elif self.inside == "script":
            self.page.scripts.append(data)


def read_page(path: Path) -> Page:
    """Read one file of the built site."""
    page = Page(path)
    _Reader(page).feed(path.read_text(encoding="utf-8"))
    page.headline = page.headline.strip()
    return page
