"""How the page of a study is made: inert, the same bytes every time, with sound figures."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from eigensieve import report
from eigensieve.plots import LoadingsDisplay, ProjectionDisplay
from eigensieve.plots._style import shorten
from eigensieve.report import write_study_report
from eigensieve.report.figures import inline_svg
from eigensieve.report.page import render_study
from eigensieve.report.shared import write_report
from eigensieve.studies.result import Study
from tests.report.pages import SVG
from tests.report.stand_ins import HOSTILE, SCRIPT

# loadings, correlations, samples, probabilities; with several k error, stability, gap; the null;
# exchanges between panels
FIGURES = {"two": 9, "three": 7, "hostile": 7, "crowd": 8, "lonely": 2, "own": 5, "ranked": 7}
OWN_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@pytest.mark.parametrize("name", list(FIGURES))
def test_nothing_comes_from_elsewhere_and_figures_are_well_formed(
    name: str, request: pytest.FixtureRequest
) -> None:
    html = render_study(request.getfixturevalue(name))
    # the namespace of SVG is a name: nothing is fetched from it
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert not re.search(r"(?:src|href)=\"(?!#|data:image/png)|url\((?!#)|@import", html)
    assert 'lang="en"' in html
    figures = SVG.findall(html)
    assert len(figures) == FIGURES[name]
    ids: list[str] = re.findall(r' id="([^"]+)"', SVG.sub("", html))
    for source in figures:
        root = ElementTree.fromstring(source)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == root[0].text
        own = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', source)
        assert set(used) <= set(own)
        ids += own
    assert len(ids) == len(set(ids))


def test_same_study_same_bytes(two: Study) -> None:
    html = render_study(two)
    assert html == render_study(two)
    settings = {"savefig.bbox": "tight", "font.size": 20, "svg.fonttype": "path", "axes.grid": True}
    with matplotlib.rc_context(settings):
        assert render_study(two) == html


def test_only_the_pages_own_script_may_run(two: Study, own: Study) -> None:
    html = render_study(two)
    (script,) = OWN_SCRIPT.findall(html)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src"
    assert f"content=\"{policy} 'sha256-{digest}'\"" in html
    assert not re.search(r"\son[a-z]+=", SVG.sub("", html))
    # one k: there is nothing to slide over
    bare = render_study(own)
    assert "<script" not in bare
    assert "script-src" not in bare


def test_the_script_holds_no_data(two: Study, hostile: Study) -> None:
    folder = Path(report.__file__).parent
    slider, pressed = (folder / name for name in ("explorer.js", "panels.js"))
    assert OWN_SCRIPT.findall(render_study(hostile)) == [slider.read_text()]
    both = slider.read_text() + pressed.read_text()
    assert OWN_SCRIPT.findall(render_study(two)) == [both]


def test_hostile_names_are_text(hostile: Study) -> None:
    html = render_study(hostile, title=SCRIPT, command=SCRIPT)
    assert html.count("<script") == 1
    assert SCRIPT not in html
    assert "<img" not in html
    for name in [*HOSTILE[:-2], "50 $"]:
        assert str(escape(name)).replace("&quot;", "&#34;").replace("&#x27;", "&#39;") in html
    assert "bad���name" in html
    html.encode("utf-8")


def test_hostile_names_in_a_figure_are_text() -> None:
    names = [*HOSTILE, "#24292f"]
    display = LoadingsDisplay(names, np.ones(len(names))).plot()
    figure = inline_svg(display.figure_, "bars", SCRIPT)
    shown = {e.text for e in ElementTree.fromstring(figure).iter() if e.tag.endswith("}text")}
    assert {shorten(name) for name in names} <= shown  # "#24292f" is a name here, no colour
    assert "<script" not in figure
    assert "<img" not in figure


def test_colours_follow_the_page(two: Study) -> None:
    figures = "".join(SVG.findall(render_study(two)))
    assert "currentColor" in figures
    assert "var(--axis)" in figures
    assert "#24292f" not in figures


def test_many_samples_become_a_small_picture() -> None:
    scores = np.random.default_rng(0).normal(size=(5000, 2))
    display = ProjectionDisplay(scores, np.arange(5000) % 3).plot()
    first = inline_svg(display.figure_, "s", "scores")
    assert "data:image/png;base64," in first
    assert len(first) < 500_000
    assert first == inline_svg(display.figure_, "s", "scores")


def test_public_entry_writes_the_page(two: Study, tmp_path: Path) -> None:
    path = tmp_path / "study.html"
    write_study_report(two, path, title="Trial 7", command="eigensieve fit")
    html = path.read_text(encoding="utf-8")
    assert html == render_study(two, title="Trial 7", command="eigensieve fit")
    two.report(path, title="Trial 8")
    assert "<h1>Trial 8</h1>" in path.read_text(encoding="utf-8")


def test_writing_replaces_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report("old", path)
    write_report("größer\n", path)
    assert path.read_bytes() == "größer\n".encode()
    with pytest.raises(UnicodeEncodeError):
        write_report("\ud800", path)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.read_bytes() == "größer\n".encode()
