"""What the tests of all pages ask of a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


class _Text(HTMLParser):
    """Text of elements apart from each other; a link is a part of its sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "a":
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.handle_starttag(tag, None)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(html: str) -> str:
    """What a reader sees, on one line."""
    parser = _Text()
    parser.feed(SVG.sub("", html[html.index("<body") :]))
    return " ".join("".join(parser.parts).replace("\u00a0", " ").split())


WIDTHS = (1280, 768, 380, 320)
SIZES = "all => all.map(one => one.getBoundingClientRect()).map(box => [box.width, box.height])"


def assert_opens_offline_and_fits(browser: Any, path: Path, *, n_scripts: int = 0) -> None:
    """No request, no console message, figures to be seen, no scrolling sideways at any width.

    Nothing is active but, where it is expected, the page's own script.
    """
    context = browser.new_context(offline=True)
    page = context.new_page()
    troubles: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
    page.on("request", lambda asked: requests.append(asked.url))
    page.goto(path.as_uri())
    page.locator("details summary").evaluate_all("all => all.forEach(one => one.click())")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        figures = page.locator("figure svg").evaluate_all(SIZES)
        assert figures
        assert all(wide > 250 and high > 50 for wide, high in figures), (width, figures)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script").count() == n_scripts
    assert page.locator("img, iframe, object, embed, [onerror], [onclick], [onload]").count() == 0
    assert troubles == []
    assert requests == [path.as_uri()]
    context.close()
