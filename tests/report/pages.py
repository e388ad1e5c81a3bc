"""What the tests of all pages ask of a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(html: str) -> str:
    """What a reader sees, on one line."""
    parser = _Text()
    parser.feed(SVG.sub("", html[html.index("<body") :]))
    return " ".join(" ".join(parser.parts).replace("\u00a0", " ").split())


def assert_opens_offline_and_fits(
    browser: Any, path: Path, width: int, *, n_scripts: int = 0
) -> None:
    """No request, no console message, figures to be seen, no scrolling sideways.

    Nothing is active but, where it is expected, the page's own script.
    """
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800})
    page = context.new_page()
    troubles: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
    page.on("request", lambda asked: requests.append(asked.url))
    page.goto(path.as_uri())
    page.locator("details summary").evaluate_all("all => all.forEach(one => one.click())")
    figures = page.locator("figure svg").all()
    assert figures
    for figure in figures:
        box = figure.bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 50
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script").count() == n_scripts
    assert page.locator("img, iframe, object, embed, [onerror], [onclick], [onload]").count() == 0
    assert troubles == []
    assert requests == [path.as_uri()]
    context.close()
