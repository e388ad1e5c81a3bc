"""Every method has a page, every page has the same sections, and the index leads to all of them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import eigensieve as es

DOCS = Path(__file__).parents[2] / "docs"
METHODS = DOCS / "methods"
SECTIONS = ("Problem", "Algorithm", "Cost", "Certificate", "Paper", "Deviations and errata")
PAGES = sorted(page.stem for page in METHODS.glob("*.md") if page.stem != "index")
ESTIMATORS = [
    name
    for name in es.__all__
    if inspect.isclass(getattr(es, name)) and issubclass(getattr(es, name), BaseEstimator)
]


def sections(text: str) -> dict[str, str]:
    """The text under every heading of the second level, in order; code blocks are no headings."""
    found: dict[str, str] = {}
    title, in_code = "", False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        heading = re.fullmatch(r"## (.+)", line)
        if heading and not in_code:
            title = heading[1]
            assert title not in found, f"two sections are called {title!r}"
            found[title] = ""
        elif title:
            found[title] += line + "\n"
    return found


def index_links() -> dict[str, str]:
    """Words in code that the index of the methods links, and where to."""
    text = (METHODS / "index.md").read_text(encoding="utf-8")
    links = re.findall(r"\[([^\]]+)\]\(([^)#]+)[^)]*\)", text)
    return {word: target for label, target in links for word in re.findall(r"`([^`]+)`", label)}


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_sections_in_order(page: str) -> None:
    found = sections((METHODS / f"{page}.md").read_text(encoding="utf-8"))
    assert [title for title in found if title in SECTIONS] == list(SECTIONS)
    assert [title for title in SECTIONS if len(found[title].split()) < 8] == []


@pytest.mark.parametrize("page", PAGES)
def test_paper_is_a_full_reference(page: str) -> None:
    paper = sections((METHODS / f"{page}.md").read_text(encoding="utf-8"))["Paper"]
    first = paper.strip().split("\n\n")[0].replace("\n", " ")
    # authors, *title*, where it appeared, year
    assert re.search(r"[A-Z]\w*, \*[^*]+\*, .+\b(19|20)\d\d\b", first), first


@pytest.mark.parametrize("name", ESTIMATORS)
def test_index_links_every_estimator(name: str) -> None:
    target = METHODS / index_links()[name]
    assert f"`{name}" in target.read_text(encoding="utf-8")


def test_index_names_every_solver() -> None:
    text = (METHODS / "index.md").read_text(encoding="utf-8")
    assert [name for name in es.available_solvers() if f'`"{name}"`' not in text] == []


def test_index_knows_who_takes_batches() -> None:
    text = (METHODS / "index.md").read_text(encoding="utf-8")
    table = text.split("## Which tables they take")[1].split("\n## ")[0]
    rows = re.findall(r"^\|(.+?)\|.*\| (yes|no) \|$", table, flags=re.MULTILINE)
    told = {
        name: answer == "yes" for names, answer in rows for name in re.findall(r"`(\w+)`", names)
    }
    # what a study leaves is fitted once
    known = {name: hasattr(getattr(es, name), "partial_fit") for name in ESTIMATORS}
    del known["PreparedClassifier"]
    assert told == known


@pytest.mark.parametrize("folder", ["methods", "concepts"])
def test_index_lists_every_page(folder: str) -> None:
    text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL)
    listed = {line for tree in trees for line in tree.split()}
    pages = {page.stem for page in (DOCS / folder).glob("*.md")} - {"index"}
    assert pages <= listed
