"""The page of a Q-alpha selector: inert, small, the same bytes every time, at home in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from eigensieve.report import write_selector_report
from eigensieve.report.selector import render_selector_report
from tests.report.pages import SVG, assert_opens_offline_and_fits, text_of
from tests.report.stand_ins import HOSTILE, SCRIPT, make_selector


@pytest.mark.parametrize("n_permutations", [0, 20])
def test_same_selector_same_bytes_and_nothing_active(n_permutations: int) -> None:
    selector = make_selector(n_permutations=n_permutations)
    html = render_selector_report(selector)
    selector.solution_.seconds = 99.0
    selector.get_params = lambda deep=True: {"n_clusters": 3, "random_state": 7, "metric": len}
    assert html == render_selector_report(selector)
    assert "<script" not in html.lower()
    # the namespace of SVG is a name: nothing is fetched from it
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert not re.search(r"(?:src|href)=\"(?!#)|url\((?!#)|@import", html)
    assert "default-src 'none'" in html
    (figure,) = SVG.findall(html)
    assert ElementTree.fromstring(figure).attrib["role"] == "img"


def test_where_an_object_lies_in_memory_is_left_out() -> None:
    rngs = (np.random.RandomState(0), np.random.RandomState(0))
    pages = {
        render_selector_report(
            make_selector(get_params=lambda deep=True, rng=rng: {"random_state": rng})
        )
        for rng in rngs
    }
    (page,) = pages
    assert "random_state=RandomState(MT19937)" in text_of(page)


def test_hostile_names_are_text() -> None:
    names = HOSTILE + [f"f{j}" for j in range(60 - len(HOSTILE))]
    classes = np.array(HOSTILE, dtype=object)
    selector = make_selector(
        k=len(HOSTILE), n_clusters_=None, classes_=classes, variant=SCRIPT,
        kernel=SCRIPT, eigensolver_=SCRIPT, get_params=lambda deep=True: {SCRIPT: SCRIPT},
    )  # fmt: skip
    html = render_selector_report(selector, names=names, title=SCRIPT)
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "bad\ufffd\ufffd\ufffdname" in html
    html.encode("utf-8")


def test_a_million_features_make_a_small_page() -> None:
    selector = make_selector(10**6, 3000, n_permutations=2)
    assert len(render_selector_report(selector)) < 200_000


def test_public_entry_writes_the_page(tmp_path: Path) -> None:
    path = tmp_path / "alpha.html"
    write_selector_report(make_selector(), path, names=list(map(str, range(60))), title="Trial 7")
    html = path.read_text(encoding="utf-8")
    assert "<h1>Trial 7</h1>" in html
    assert html == render_selector_report(
        make_selector(), names=list(map(str, range(60))), title="Trial 7"
    )


@pytest.mark.browser
@pytest.mark.parametrize("n_permutations", [0, 20])
def test_page_opens_offline_and_fits(n_permutations: int, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    names = HOSTILE + [f"f{j}" for j in range(60 - len(HOSTILE))]
    selector = make_selector(k=len(HOSTILE), n_permutations=n_permutations)
    write_selector_report(selector, path, names=names, title=SCRIPT)
    assert_opens_offline_and_fits(browser, path)
