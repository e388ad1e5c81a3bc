"""The page of a study in a real browser: offline, at every width, with script and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve.report.page import render_study
from eigensieve.studies.result import Study
from tests.report.pages import assert_opens_offline_and_fits
from tests.report.stand_ins import SCRIPT

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Study], Path]:
    """Where the page of a study lies; each is rendered once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str, study: Study) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(render_study(study), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("name", ["two", "three", "hostile", "crowd", "lonely", "own", "ranked"])
def test_page_opens_offline_and_fits(
    name: str, browser: Any, page_of: Any, request: pytest.FixtureRequest
) -> None:
    study = request.getfixturevalue(name)
    path = page_of(name, study)
    has_panels = study.near_optimal is not None and study.near_optimal.n_sets > 1
    assert_opens_offline_and_fits(browser, path, n_scripts=int(len(study.ks) > 1 or has_panels))


def test_hostile_names_are_shown_and_do_nothing(browser: Any, page_of: Any, hostile: Study) -> None:
    context = browser.new_context(offline=True)
    page = context.new_page()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(page_of("hostile", hostile).as_uri())
    for place in ("h1", ".notice", "th.name", ".chips li", ".methods dd", "td.words"):
        assert page.locator(place, has_text=SCRIPT).count() > 0, place
    assert page.locator("figure svg text", has_text=SCRIPT).count() > 0
    assert page.locator("script").count() == 1
    assert dialogs == []
    context.close()


@pytest.mark.parametrize(("width", "most_lines"), [(1280, 9), (400, 12)])
def test_a_long_name_has_room(
    browser: Any, page_of: Any, three: Study, width: int, most_lines: int
) -> None:
    """140 letters without a space; the table has many columns, and scrolls."""
    long = replace(three.selected[0], name="chr1:" + "ACGTA" * 27)
    study = replace(three, selected=[long, *three.selected[1:]])
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(page_of("long", study).as_uri())
    cell = page.locator("#h-features ~ .scroll th.name", has_text="chr1").first
    height = cell.evaluate(
        "one => { const range = document.createRange(); range.selectNodeContents(one);"
        " return range.getBoundingClientRect().height }"
    )
    line = cell.evaluate("one => parseFloat(getComputedStyle(one).lineHeight)")
    assert height <= most_lines * line
    page.close()


def test_a_script_put_into_the_page_does_not_run(browser: Any, page_of: Any, two: Study) -> None:
    path = page_of("two", two)
    evil = path.with_name("evil.html")
    html = path.read_text(encoding="utf-8")
    evil.write_text(html.replace("</main>", f"{SCRIPT}</main>"), encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    dialogs, refusals = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: refusals.append(message.text))
    page.goto(evil.as_uri())
    assert page.locator("#every-k.live").count() == 1  # the page's own script ran
    assert dialogs == []
    assert any("Content Security Policy" in text for text in refusals)
    context.close()


def test_slider_shows_one_k_at_a_time_and_obeys_the_keyboard(
    browser: Any, page_of: Any, two: Study
) -> None:
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(page_of("two", two).as_uri())
    slider = page.get_by_label("Number of features", exact=True)
    slider.focus()
    place = two.ks.index(two.best_k)

    def assert_shows(k: int) -> None:
        panels = page.locator("#k-panels > details:visible")
        assert panels.count() == 1
        names = panels.locator(".chips li").evaluate_all(
            "all => all.map(one => one.firstChild.textContent.trim())"
        )
        assert names == [feature.name for feature in two.features_at(k)]
        row = two.rows[two.ks.index(k)]
        assert f"{100 * row['error']:.1f}" in panels.locator(".value").first.inner_text()
        label = f"k = {k}{' (chosen)' if k == two.best_k else ''}"
        for text in (slider.get_attribute("aria-valuetext"), page.inner_text("#k-shown")):
            assert text.replace("\u00a0", " ") == label

    assert_shows(two.best_k)
    page.keyboard.press("End")
    assert_shows(two.ks[-1])
    page.keyboard.press("Home")
    assert_shows(two.ks[0])
    page.keyboard.press("ArrowRight")
    assert_shows(two.ks[1])
    assert place == 1  # so that the first and the last were others than the chosen one
    page.keyboard.press("End")
    page.emulate_media(media="print")
    shown = page.locator("#k-panels > details:visible")
    assert shown.count() == 1
    assert "chosen" in (shown.get_attribute("class") or "")
    assert not slider.is_visible()
    context.close()


def test_without_script_every_k_and_every_table_is_there(
    browser: Any, page_of: Any, two: Study
) -> None:
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(page_of("two", two).as_uri())
    panels = page.locator("#k-panels > details")
    assert panels.count() == len(two.ks)
    opened = page.locator("#k-panels > details[open]")
    assert opened.count() == 1
    assert f"k\u00a0=\u00a0{two.best_k} (chosen)" in opened.inner_text()
    assert not page.locator("#k-slider").is_visible()
    for i, k in enumerate(two.ks):
        summary = panels.nth(i).locator("summary")
        assert summary.is_visible()
        if k != two.best_k:
            summary.click()
        for feature in two.features_at(k):
            assert panels.nth(i).locator(".chips li", has_text=feature.name).first.is_visible()
    closed = page.locator("details:not([open]) > summary")
    while closed.count():
        closed.first.click()
    tables = page.locator("table").all()
    assert len(tables) == 13
    assert all(table.is_visible() for table in tables)
    context.close()


def test_dark_and_light_are_both_readable(browser: Any, page_of: Any, two: Study) -> None:
    papers = {}
    for scheme in ("light", "dark"):
        page = browser.new_context(offline=True, color_scheme=scheme).new_page()
        page.goto(page_of("two", two).as_uri())
        paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        ink = luminance(page.evaluate("getComputedStyle(document.body).color"))
        label = page.locator("figure svg text").first
        drawn = luminance(label.evaluate("text => getComputedStyle(text).fill"))
        for colour in (ink, drawn):
            assert (max(paper, colour) + 0.05) / (min(paper, colour) + 0.05) > 7  # WCAG, AAA
        papers[scheme] = paper
        page.context.close()
    assert papers["light"] > 0.8
    assert papers["dark"] < 0.1


def luminance(colour: str) -> float:
    """Relative luminance (WCAG) of a colour as browsers write it, ``rgb(1, 2, 3)``."""
    channels = np.array([int(c) for c in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
