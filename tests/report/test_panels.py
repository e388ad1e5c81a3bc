"""The section on panels: every table and sentence against the list it is about."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve.report.exchanges import MAX_EDGES, ExchangeDisplay
from eigensieve.report.page import render_study
from eigensieve.report.panels import render_panels
from eigensieve.search.near_optimal.sets import NearOptimalSets
from eigensieve.studies.result import Study
from tests.report.pages import assert_opens_offline_and_fits, text_of
from tests.report.stand_ins import HOSTILE, SCRIPT
from tests.search.near_optimal.lists import LETTERS, make_list

FOUND = make_list("abc", "abd", "abe", "bcd", losses=[0, 0.001, 0.004, 0.0099])


def page(found: NearOptimalSets) -> str:
    return render_panels(found, title="Panels", about=[("Score", "trace")], notes=["A note."])


def table(html: str, label: str) -> list[list[str]]:
    """The rows of a table as texts of cells, the head first."""
    part = html[html.index(f'aria-label="{label}"') :]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", part[: part.index("</table>")], re.DOTALL)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in row] for row in cells]


def many(n: int, k: int = 3, p: int = 26) -> list[str]:
    return ["".join(S) for S in combinations(LETTERS[:p], k)][:n]


def test_the_matrix_is_the_list() -> None:
    head, *rows = table(page(FOUND), "Panels and their features")
    assert head == ["Panel", "Loss", "b", "a", "c", "d", "e"]
    read = [
        (row[0], row[1].replace("\xa0", " "), {n for n, dot in zip(head[2:], row[2:]) if dot})
        for row in rows
    ]
    assert read == [
        ("1", "none", set("abc")), ("2", "0.10 %", set("abd")), ("3", "0.40 %", set("abe")),
        ("4", "0.99 %", set("bcd")),
    ]  # fmt: skip


def test_how_often_by_hand() -> None:
    panels = many(40)
    rows = table(page(make_list(*panels, p=26)), "How often each feature occurs")[1:]
    counts = Counter(letter for panel in panels for letter in panel)
    assert {row[0]: int(row[1]) for row in rows} == counts
    assert [int(row[1]) for row in rows] == sorted(counts.values(), reverse=True)
    for name, n, share in rows:
        assert share == f"{100 * counts[name] / 40:.1f}\xa0%", n


def test_do_without() -> None:
    html = page(FOUND)
    rows = [[cell.replace("\xa0", " ") for cell in row] for row in table(html, WITHOUT)[1:]]
    assert rows == [
        ["a", "4", "0.99 %", "d", ""],
        ["b", "No panel within 1 % of the best does without b: proved."],
        ["c", "2", "0.10 %", "d", ""],
    ]
    assert "not listed may be better" not in text_of(html)
    other = table(page(make_list("abc", "ade", losses=[0, 0.002])), WITHOUT)[2]
    assert other[0:2] + other[3:] == ["b", "2", "d, e", "c"]


WITHOUT = "The best panel without a feature"


def test_a_list_that_is_not_complete_claims_no_more() -> None:
    cut = make_list(
        "abc", "abd", "abe", "bcd", complete=False, bound=1.3, never=[7], core=[],
        losses=[0, 0.001, 0.004, 0.0099],
    )  # fmt: skip
    html = page(cut)
    said = text_of(html)
    assert table(html, WITHOUT)[2] == ["b", "None of the panels listed does without b."]
    assert "Panels that are not listed may be better." in said
    assert "there may be more" in said
    assert "included: proved" not in said
    # cut by their number: those that are missing score less than the last one
    ranked = replace(cut, bound=float(cut.scores[-1]))
    assert "may be better" not in text_of(page(ranked))


def test_more_than_a_page_holds_is_said() -> None:
    panels = many(67)
    html = page(make_list(*panels, p=26))
    assert len(table(html, "Panels and their features")) == 51
    assert (
        "The first 50 of 67 panels; the command line writes all of them to panels.csv."
        in text_of(html)
    )
    core, rest = LETTERS[:13], [f"{a}{b}" for a, b in combinations(LETTERS[13:], 2)][:30]
    html = page(make_list(*(core + two for two in rest), p=26))
    head = table(html, "Panels and their features")[0]
    assert not set(core) & set(head)
    assert "The 13 features that are in all of them have no columns" in text_of(html)


def test_features_beyond_the_columns_are_named() -> None:
    sets = np.array([[0, i, i + 1] for i in range(1, 61)])
    names = tuple(f"gene {j:02}" for j in range(62))
    found = make_list("abc", "abd", p=62, names=names)
    losses = np.linspace(0, 0.01, 60)
    found = replace(found, sets=sets, scores=2 * (1 - losses))
    head, *rows = table(page(found), "Panels and their features")
    assert len(head) == 2 + 40 + 1
    for members, row in zip(sets.tolist(), rows):
        dots = {name for name, dot in zip(head[2:-1], row[2:-1]) if dot}
        rest = set(filter(None, row[-1].split(", ")))
        assert dots | rest == {names[j] for j in members}
        assert not dots & rest
    bars = table(page(found), "How often each feature occurs")
    assert len(bars) == 1 + 60
    assert "2 more features occur in as few panels, or fewer." in text_of(page(found))


def test_one_panel_has_a_sentence_and_no_script() -> None:
    html = page(make_list("abc"))
    assert "No other panel of 3 features is within 1 % of the best: proved." in text_of(html)
    assert "<script" not in html
    assert "Panels and their features" not in html


def test_panels_without_single_exchanges() -> None:
    said = text_of(page(make_list("ab", "cd")))
    assert "No two of the panels differ by one feature only" in said


def test_harmful_names_are_text() -> None:
    names = (*HOSTILE, *(f"f{j}" for j in range(26)))
    found = make_list("abc", "abd", "abe", p=len(names), names=names)
    html = page(found)
    assert SCRIPT not in html
    assert html.count("<script") == 1


# ---------------------------------------------------------------- in a study


def test_where_the_selected_panel_stands(no_figures: None, two: Study) -> None:
    assert two.near_optimal is not None
    # of the study's own list, whose first set is the selected one
    assert "The selected panel is n" not in text_of(render_study(two))
    own = two.near_optimal
    swapped = replace(own, sets=own.sets[::-1], scores=own.scores * (1 - own.losses))
    said = text_of(render_study(replace(two, near_optimal=swapped)))
    assert f"The selected panel is number {own.n_sets} of them and loses" in said
    assert f"{own.n_sets} (selected)" in said
    gone = replace(own, sets=own.sets[1:], scores=own.scores[1:])
    best = replace(own.best, objective=1.05 * two.solution.objective)
    said = text_of(render_study(replace(two, near_optimal=replace(gone, best=best))))
    assert "The selected panel is not among them: it loses 4.76 %." in said


def test_the_most_stable_panel(no_figures: None, two: Study) -> None:
    found = two.near_optimal
    assert found is not None
    frequency = np.zeros_like(two.frequency)
    frequency[:, found.sets[-1]] = 0.75
    study = replace(two, frequency=frequency)
    stable = [frequency[0, S].mean() for S in found.sets]
    number = int(np.argmax(stable)) + 1
    said = text_of(render_study(study))
    assert f"The most stable of them is number {number} (75 %, the first one: " in said
    head, *rows = table(render_study(study), "Panels and their features")
    assert [row[head.index("Stability")] for row in rows] == [f"{100 * s:.0f}\xa0%" for s in stable]
    level = replace(two, frequency=np.full_like(two.frequency, 0.5))
    assert "No other is more stable than the first (50 %)." in text_of(render_study(level))


def test_no_list_no_section(no_figures: None, ranked: Study, two: Study) -> None:
    for study in (ranked, replace(two, near_optimal=None)):
        html = render_study(study)
        assert "h-panels" not in html
        assert "Panel, loss" not in html
    assert 'href="#h-panels"' in render_study(two)


# ---------------------------------------------------------------- the graph


def test_the_graph_has_the_exchanges() -> None:
    display = ExchangeDisplay(FOUND).plot()
    (ax,) = display.figure_.axes
    # by hand: abc-abd, abc-abe, abd-abe, abc-bcd (a, d), abd-bcd (a, c)
    assert {tuple(edge) for edge in display.edges} == {
        (2, 3, 1), (2, 4, 1), (3, 4, 1), (0, 3, 1), (0, 2, 1)
    }  # fmt: skip
    assert len(ax.patches) == 5
    assert sorted(text.get_text() for text in ax.texts) == ["a", "c", "d", "e"]
    assert sorted(display.features) == [0, 2, 3, 4]


def test_the_graph_shows_the_strongest() -> None:
    found = make_list(*many(300), p=26)
    display = ExchangeDisplay(found).plot()
    counts: Counter[tuple[str, ...]] = Counter()
    for one, other in combinations(map(set, many(300)), 2):
        if len(one - other) == 1:
            counts[tuple(sorted(one ^ other))] += 1
    strongest = sorted(counts.values(), reverse=True)[:MAX_EDGES]
    assert [edge.n_pairs for edge in display.edges] == strongest
    said = text_of(page(found))
    assert f"The 30 most frequent of {len(counts)} exchanges are shown." in said


# ---------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("panels") / "panels.html"
    path.write_text(page(FOUND), encoding="utf-8")
    return path


@pytest.mark.browser
def test_the_page_opens_offline_and_fits(browser: Any, written: Path) -> None:
    assert_opens_offline_and_fits(browser, written, n_scripts=1)


@pytest.mark.browser
def test_a_feature_is_pressed(browser: Any, written: Path) -> None:
    """By mouse in the matrix, by keyboard in the bars; once more, and all are there again."""
    opened = browser.new_page()
    opened.goto(written.as_uri())
    rows = opened.locator("tr[data-features]:visible th")
    said = opened.locator("#panels-said")
    assert rows.all_inner_texts() == ["1", "2", "3", "4"]
    opened.locator("th.up button", has_text="c").click()
    assert rows.all_inner_texts() == ["2", "3"]
    assert "2 of the 4 panels do without c; the best of them is number 2" in said.inner_text()
    pressed = opened.locator('button[aria-pressed="true"]')
    assert pressed.all_inner_texts() == ["c", "c"]
    bar = opened.locator("tr th.name button", has_text="d")
    bar.focus()
    opened.keyboard.press("Enter")
    assert rows.all_inner_texts() == ["1", "3"]
    opened.keyboard.press("Space")
    assert rows.all_inner_texts() == ["1", "2", "3", "4"]
    opened.locator("th.up button", has_text="b").click()
    assert rows.count() == 0
    assert "No panel within 1\u00a0% of the best does without b" in said.inner_text()
    opened.locator("#panels-all").click()
    assert rows.count() == 4
    assert opened.locator("#panels-all").is_disabled()
    opened.close()


@pytest.mark.browser
def test_without_script_all_is_there(browser: Any, written: Path) -> None:
    opened = browser.new_context(offline=True, java_script_enabled=False).new_page()
    opened.goto(written.as_uri())
    assert opened.locator("tr[data-features]:visible").count() == 4
    assert opened.locator("button:visible").count() == 0
    assert not opened.locator("#panels-said").is_visible()
    opened.close()
