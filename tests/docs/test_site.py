"""The site: it builds without a warning, lacks no public name, and needs nothing but itself."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

import eigensieve as es
from eigensieve import errors, plots
from eigensieve.cli.main import COMMANDS, cli
from tests.docs.html_pages import Page, read_page

ROOT = Path(__file__).parents[2]
BUILT = ("_build", "auto_gallery", "generated", "__pycache__")
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE_BY_SPHINX = "auto_gallery/"  # a link there is for readers of the site


@dataclass(frozen=True, repr=False)
class Site:
    """What a build left: the pages by their path, and what Sphinx said."""

    folder: Path
    code: int
    said: str
    pages: dict[Path, Page]

    def anchors(self) -> dict[str, Page]:
        """The pages of the reference by what they explain."""
        folder = self.folder / "api"
        pages = (page for path, page in self.pages.items() if folder in path.parents)
        return {anchor: page for page in pages for anchor in page.anchors}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site, built from a copy of the sources: Sphinx writes pages next to them."""
    tree = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", tree / "docs", ignore=shutil.ignore_patterns(*BUILT))
    for file in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy(file, tree)
    for folder in ("src", "tests", "benchmarks"):
        (tree / folder).symlink_to(ROOT / folder)
    unwanted = ("EIGENSIEVE_DATA", "MPLBACKEND")  # a reader of the docs has no data folder
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "docs", "html"],
        cwd=tree,
        env={name: value for name, value in os.environ.items() if name not in unwanted},
        capture_output=True,
        text=True,
    )
    html = (tree / "html").resolve()
    written = [
        path for path in sorted(html.rglob("*.html")) if html / "_static" not in path.parents
    ]
    pages = {path: read_page(path) for path in written}
    return Site(html, done.returncode, done.stdout + done.stderr, pages)


def public_objects() -> Iterator[tuple[str, object]]:
    """Every public name, and what it stands for."""
    for name in es.__all__:
        thing = getattr(es, name)
        if inspect.ismodule(thing):
            yield from ((f"eigensieve.{name}.{own}", getattr(thing, own)) for own in thing.__all__)
        elif name != "__version__":
            yield f"eigensieve.{name}", thing
    for name in dir(plots):
        yield f"eigensieve.plots.{name}", getattr(plots, name)


def own_methods(kind: type) -> Iterator[str]:
    """The public methods and properties of a class that are written in this package."""
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        is_own = (getattr(function, "__module__", None) or "").startswith("eigensieve.")
        if inspect.isfunction(function) and is_own and not name.startswith("_"):
            yield name


def test_the_site_builds_without_a_warning(site: Site) -> None:
    assert site.code == 0, site.said
    assert "WARNING" not in site.said, site.said


def test_every_public_name_has_a_page(site: Site) -> None:
    anchors = site.anchors()
    names = [name for name, _ in public_objects()]
    assert len(names) > 50
    assert [name for name in names if name not in anchors] == []
    astray = [name for name in names if anchors[name].headline != name.rsplit(".", 1)[-1]]
    assert astray == []  # explained on a page that is about something else


def test_every_method_is_explained(site: Site) -> None:
    anchors = site.anchors()
    wanted = {
        f"{name}.{method}"
        for name, kind in public_objects()
        if isinstance(kind, type)
        for method in own_methods(kind)
    }
    assert len(wanted) > 100
    assert sorted(wanted - anchors.keys()) == []


def test_every_error_is_explained(site: Site) -> None:
    kinds = [name for name, thing in vars(errors).items() if isinstance(thing, type)]
    assert "InputError" in kinds
    anchors = site.anchors()
    assert [name for name in kinds if f"eigensieve.errors.{name}" not in anchors] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_with_its_options(site: Site, name: str) -> None:
    page = site.pages[site.folder / "api" / "generated" / "commands" / f"{name}.html"]
    assert page.headline == f"eigensieve {name}"
    command = cli.get_command(click.Context(cli), name)
    options = [option for option in command.params if isinstance(option, click.Option)]
    shown = {f"cmdoption-eigensieve-{name}-{option.opts[0].lstrip('-')}" for option in options}
    assert sorted(shown - page.anchors) == []


def test_every_example_of_the_gallery_was_run(site: Site) -> None:
    examples = sorted((ROOT / "docs" / "gallery").rglob("plot_*.py"))
    assert examples
    for example in examples:
        page = site.pages[site.folder / "auto_gallery" / f"{example.stem}.html"]
        pictures = [source for source in page.loaded if f"sphx_glr_{example.stem}_" in source]
        assert pictures, f"{example.name} shows no figure"


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    assert len(site.pages) > 100
    loaded = {source for page in site.pages.values() for source in page.loaded}
    assert sorted(source for source in loaded if is_elsewhere(source)) == []
    asked = re.compile(r"""(?:url\(|@import|\bimport\(|fetch\()\s*["']?(?:https?:)?//""")
    styles = [path.read_text(encoding="utf-8") for path in site.folder.rglob("*.css")]
    scripts = [script for page in site.pages.values() for script in page.scripts]
    assert [text[:200] for text in (*styles, *scripts) if asked.search(text)] == []


def is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc) or urlsplit(address).scheme not in ("", "data")


def test_every_link_leads_somewhere(site: Site) -> None:
    assert site.folder / "index.html" in site.pages
    dead = []
    for path, page in site.pages.items():
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = site.pages.get(target)
            anchor = unquote(parts.fragment)
            if not target.is_file() or (known and anchor and anchor not in known.anchors):
                dead.append(f"{path.relative_to(site.folder)}: {link}")
    assert dead == []


def test_links_between_the_sources_work_on_a_code_host() -> None:
    sources = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    dead = []
    for source in (path for path in sources if not set(BUILT) & set(path.parts)):
        for link in MARKDOWN_LINK.findall(without_code(source.read_text(encoding="utf-8"))):
            parts = urlsplit(link)
            if parts.scheme or not parts.path or parts.path.startswith(MADE_BY_SPHINX):
                continue
            if not (source.parent / unquote(parts.path)).exists():
                dead.append(f"{source.relative_to(ROOT)}: {link}")
    assert dead == []


def without_code(text: str) -> str:
    without_blocks = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]+`", "code", without_blocks)
