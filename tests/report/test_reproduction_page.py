"""The page of reproductions: what it says, and how it looks in a real browser."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eigensieve.experiments.catalogue import find_experiments
from eigensieve.experiments.judge import Cell, Reading, Verdict
from eigensieve.experiments.published import read_published
from eigensieve.experiments.runner import Result, run_experiment
from eigensieve.experiments.values import Measured, Value
from eigensieve.experiments.words import ours_text
from eigensieve.report.reproduction import Drawing, draw_figures, render_reproduction
from tests.report.pages import assert_opens_offline_and_fits, text_of


def drawings(result: Result) -> dict[str, Drawing]:
    return draw_figures([result])[1]


def shown(value: float, published: str = "", decimals: int | None = None, se=None) -> str:
    figure = read_published(published) if published else None
    return ours_text(Cell("r", "c", figure, None, Value(value, se), Verdict.MATCHES,
                          decimals=decimals))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (shown(18.66, "19.9", 1, 0.123), "18.7 ± 0.1"),
        (shown(1011.44, "1,011.4", 1), "1,011.4"),
        (shown(3.381e-6, "3.38e-6", 2), "3.38e-06"),
        (shown(1.2345, se=0.1234), "1.23 ± 0.12"),
        (shown(340.51, "411.7", 1, 83.4999), "340.5 ± 83.5"),
        (shown(2000, "2000", 0), "2000"),
        (shown(2000, ">= 30", 0), "2,000"),
        (shown(2000, '"can reach", read as >= 30', 0), "2,000"),
        (shown(12345.6), "12,346"),
        (shown(0.0004, "0.02", 2), "0.0004"),
        (shown(0.0, "0.02", 2), "0.00"),
        (shown(float("nan"), "0.02", 2), "nan"),
        (shown(-1e-10, "> 0", 2, 0.58), "0.00 ± 0.58"),
        (shown(99.64, "99.64", 2, 5e-15), "99.64"),
    ],
)
def test_figures_are_shown_as_the_paper_prints_them(text: str, expected: str) -> None:
    assert text == expected


@pytest.fixture(scope="module")
def figure2a() -> Result:
    (experiment,) = find_experiments(["wolf2005/figure2a"])
    return run_experiment(experiment, "smoke", n_jobs=1)


@pytest.fixture(scope="module")
def hostile(figure2a: Result) -> Result:
    """All kinds of verdicts, in a grid, with words that would like to be markup."""
    values = {(f"row {i} <script>alert(1)</script>", c): Value(1.0, 0.1) for i in range(40)
              for c in ("a", "b")}  # fmt: skip
    kinds = list(Verdict)
    published = read_published("1.0")
    cells = [
        Cell(*place, published, published, value, kinds[i % 6], i % 3 == 0, "why <i>" * (i % 2), 1)
        for i, (place, value) in enumerate(values.items())
    ]
    measured = Measured(values, figure2a.measured.series, ["a note <b>bold</b>"])
    return Result(figure2a.experiment, "full", cells, measured, trouble="ValueError: <p>")


BOXES = {
    "Match": "matches",
    "Differ": "differs",
    "Cannot be told": "cannot be told",
    "Cannot be had": "cannot be had",
    "Nothing published": "nothing published",
    "Not run": "not run",
}


def test_the_boxes_count_the_cells_that_are_drawn(figure2a: Result, hostile: Result) -> None:
    """Counted in the HTML: boxes, overview and sentence agree with the cells below."""
    (analogue,) = find_experiments(["wolf2005/images"])
    other = replace(hostile, experiment=analogue, trouble="")
    html = render_reproduction([figure2a, hostile, other], {}, command="x y")
    drawn = Counter(re.findall(r'data-verdict="([^"]+)"', html))
    assert sum(drawn.values()) == sum(len(r.cells) for r in (figure2a, hostile, other))
    assert set(drawn) == set(BOXES.values())
    text = text_of(html)
    for box, verdict in BOXES.items():
        assert re.search(rf"{box}\s+{drawn[verdict]}\b", text), (box, drawn[verdict])
    judged = [drawn[verdict] for verdict in ("matches", "differs", "cannot be told")]
    assert f"Of {sum(judged)} published figures and claims" in text
    assert f"{judged[0]} come out again and {judged[1]} do not; of {judged[2]} it cannot" in text
    stand_ins = sum(
        cell.verdict in ("matches", "differs", "cannot be told") for cell in other.cells
    )
    assert f"{stand_ins} of the {sum(judged)} are judged on other data" in text
    overview = re.search(r'aria-label="All experiments".*?</table>', html, re.DOTALL)
    assert overview is not None
    rows = re.findall(r"<tr>.*?</tr>", overview[0], re.DOTALL)[1:]
    columns = [[re.sub("<.*?>", "", td) for td in re.findall(r"<td>.*?</td>", row)] for row in rows]
    sums = [sum(int(row[i] or 0) for row in columns) for i in range(len(BOXES))]
    assert sums == [drawn[verdict] for verdict in BOXES.values()]


def test_figures_that_cannot_be_confirmed_are_counted(figure2a: Result) -> None:
    earlier, ours = read_published("1"), Value(1.0)
    cells = [
        Cell(f"r{i}", "c", None, earlier, ours, Verdict.UNPUBLISHED, confirms)
        for i, confirms in enumerate((True, True, False, None))
    ]
    cells.append(Cell("r9", "c", None, earlier, None, Verdict.NOT_RUN))
    cells.append(Cell("r10", "c", None, None, ours, Verdict.UNPUBLISHED))
    text = text_of(render_reproduction([replace(figure2a, cells=cells)], {}))
    assert "Figures of an earlier reproduction: 2 of 3 confirmed, 1 cannot be told." in text
    assert re.search(r"Earlier run confirmed\s+2 of 3\s+1 more cannot be told", text)
    text = text_of(render_reproduction([replace(figure2a, cells=cells[3:])], {}))
    assert "Figures of an earlier reproduction: 1 cannot be told." in text
    text = text_of(render_reproduction([replace(figure2a, cells=cells[4:])], {}))
    assert "Figures of an earlier reproduction" not in text


def test_what_a_quick_run_has_less_of_is_told(figure2a: Result) -> None:
    given = {"runs": 20, "sizes": [1, 2, 3], "at": [1, 2], "same": [1]}
    less = {**given, "runs": 5, "sizes": [1], "at": [1, 3]}
    protocols = {"full": given, "smoke": less}
    result = replace(figure2a, experiment=replace(figure2a.experiment, protocols=protocols))
    text = text_of(render_reproduction([result], {}))
    told = "runs 5 (full: 20); 1 value of sizes (full: 3); other values of at."
    assert f"In this run: {told}" in text


def test_reasons_and_level_are_on_the_page(figure2a: Result) -> None:
    text = text_of(render_reproduction([figure2a], drawings(figure2a), command="x y"))
    assert "smoke test" in text
    for cell in figure2a.cells:
        assert cell.row in text
        assert cell.why in text


def test_readings_stand_below_the_figure(figure2a: Result) -> None:
    readings = (
        Reading("64 paths", Value(0.958), True),
        Reading("17 paths", Value(0.786), False),
    )
    one = Cell("r", "c", read_published(">= 0.9"), None, Value(0.958), Verdict.OPEN, None,
               "it hinges", 3, readings)  # fmt: skip
    for cells in ([one], [replace(one, row=f"r{i}", column=c) for i in range(4) for c in "ab"]):
        text = text_of(render_reproduction([replace(figure2a, cells=cells)], {}))
        assert "64 paths: 0.958 ✓" in text
        assert "17 paths: 0.786 ≠" in text
    alike = replace(
        one, readings=(readings[0], replace(readings[1], ours=Value(0.95801), agrees=True))
    )
    assert "paths" not in text_of(render_reproduction([replace(figure2a, cells=[alike])], {}))


def test_nothing_on_the_page_is_markup(hostile: Result) -> None:
    html = render_reproduction([hostile], drawings(hostile))
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "why &lt;i&gt;" in html
    assert "a note &lt;b&gt;" in html
    assert "ValueError: &lt;p&gt;" in html


def cell(row: str, column: str, published: str = "") -> Cell:
    figure = read_published(published) if published else None
    verdict = Verdict.MATCHES if published else Verdict.UNPUBLISHED
    return Cell(row, column, figure, None, Value(1.0), verdict)


def test_a_table_stands_apart_from_claims(figure2a: Result) -> None:
    table = [cell(f"method {i}", c, "1") for i in range(4) for c in ("error", "variables")]
    claims = [cell("claim one", "difference", "> 0"), cell("claim two", "ratio", "> 0")]
    result = replace(figure2a, cells=[*table[:5], claims[0], *table[5:], claims[1]])
    html = render_reproduction([result], {})
    grid, listed = re.findall(r'aria-label="Cells of.*?</table>', html, re.DOTALL)
    assert all(f"method {i}" in grid for i in range(4))
    assert "claim" not in grid
    assert ">error</th>" in grid
    assert "claim one" in listed
    assert "method" not in listed


def test_tables_without_a_common_column_are_two(figure2a: Result) -> None:
    """As a list, or as one grid, most of it would be empty."""
    methods = [cell(f"method {i}", c, "1") for i in range(4) for c in ("error", "variables")]
    leads = [cell(f"lead {i}", c, "> 0") for i in range(4) for c in ("points", "ratio")]
    mixed = [c for pair in zip(methods, leads) for c in pair]
    html = render_reproduction([replace(figure2a, cells=mixed)], {})
    first, second = re.findall(r'aria-label="Cells of.*?</table>', html, re.DOTALL)
    assert re.findall(r'scope="col">(\w+)<', first) == ["error", "variables"]
    assert re.findall(r'scope="col">(\w+)<', second) == ["points", "ratio"]
    assert "lead" not in first
    assert "method" not in second


def test_of_many_cells_the_judged_come_first(figure2a: Result) -> None:
    cells = [cell(f"row {i}", f"column {i % 20}", "1" if i == 70 else "") for i in range(80)]
    html = render_reproduction([replace(figure2a, cells=cells)], {})
    first, *_ = re.findall(r'aria-label="Cells of.*?</table>', html, re.DOTALL)
    assert "row 70" in first
    assert "row 7<" not in first
    assert "79 figures for which nothing is published" in html


def test_an_interrupted_run_says_so(figure2a: Result) -> None:
    html = render_reproduction([figure2a], {}, unfinished=["own/gaps"])
    assert "Left: own/gaps." in text_of(html)


def test_missing_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)
    (experiment,) = find_experiments(["moghaddam2006/figure2"])
    result = run_experiment(experiment)
    text = text_of(render_reproduction([result], drawings(result)))
    assert "Data files that are missing: sonar.npz." in text
    assert "No published figure could be judged." in text


@pytest.mark.browser
def test_the_page_opens_offline_and_fits(
    browser: Any, figure2a: Result, hostile: Result, tmp_path: Path
) -> None:
    for name, result in (("plain", figure2a), ("hostile", hostile)):
        path = tmp_path / f"{name}.html"
        html = render_reproduction([result], drawings(result), command="eigensieve x")
        path.write_text(html, encoding="utf-8")
        assert_opens_offline_and_fits(browser, path)
