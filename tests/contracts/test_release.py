"""What a release needs: one version, a changelog that knows it, a citation, lowest versions."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import eigensieve

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RELEASE = re.compile(r"\d+\.\d+\.\d+")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
UNKNOWN = "0.0"  # a source tree that was never built

# the keys and kinds of references of the format's schema, as far as this file uses them
CFF_KEYS = {"cff-version", "message", "title", "abstract", "type", "authors", "license", "keywords",
            "references", "version", "date-released", "doi", "url", "repository-code"}  # fmt: skip
CFF_NEEDED = {"cff-version", "message", "title", "authors"}
REFERENCE_KEYS = {"type", "title", "authors", "journal", "collection-title", "conference", "volume",
                  "start", "end", "year", "doi", "url", "notes"}  # fmt: skip


def test_the_version_is_of_pep_440_and_written_once() -> None:
    from packaging.version import Version

    assert str(Version(eigensieve.__version__)) == eigensieve.__version__
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT


def test_the_command_says_the_same() -> None:
    command = [sys.executable, "-m", "eigensieve", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert said.stdout == f"eigensieve, version {eigensieve.__version__}\n"


def test_a_built_package_has_the_version_of_its_metadata() -> None:
    version_file = Path(eigensieve.__file__).with_name("_version.py")
    if not version_file.exists():
        assert eigensieve.__version__ == UNKNOWN
        return
    assert version_file.read_text() == f'__version__ = "{eigensieve.__version__}"\n'
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "src/eigensieve/_version.py" in ignored


def heading_of(version: str) -> str:
    """The heading that the changelog must have: that of a release, or what is to come."""
    return version if RELEASE.fullmatch(version) else "Unreleased"


@pytest.mark.parametrize(
    ("version", "heading"),
    [("1.2.3", "1.2.3"), ("1.2.4.dev2+g1234567", "Unreleased"), ("0.0", "Unreleased")],
)
def test_releases_are_told_from_what_is_between(version: str, heading: str) -> None:
    assert heading_of(version) == heading


def test_the_changelog_has_the_version() -> None:
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", CHANGELOG, re.MULTILINE)
    assert heading_of(eigensieve.__version__) in dict(headings)
    releases = [name for name, _ in headings if name != "Unreleased"]
    order = [tuple(map(int, name.split("."))) for name in releases]
    assert order == sorted(order, reverse=True)
    assert all(date for name, date in headings if name != "Unreleased")


def test_the_citation_is_valid_and_names_the_papers() -> None:
    yaml = pytest.importorskip("yaml", reason="NO YAML: PyYAML is not installed")
    given = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert given["cff-version"] == "1.2.0"
    assert given["type"] == "software"
    assert set(given) >= CFF_NEEDED
    assert set(given) <= CFF_KEYS
    assert given["license"] == PROJECT["license"]
    years = {}
    for reference in given["references"]:
        assert set(reference) >= {"type", "title", "authors", "year"}
        assert set(reference) <= REFERENCE_KEYS
        assert reference["type"] in {"article", "conference-paper"}
        assert all(
            set(person) == {"family-names", "given-names"} for person in reference["authors"]
        )
        assert re.fullmatch(r"10\.\d{4,}/\S+", reference.get("doi", "10.1234/none"))
        years[reference["authors"][0]["family-names"].split()[-1].lower()] = reference["year"]
    assert {f"{name}{year}" for name, year in years.items()} == {
        "wolf2005", "moghaddam2006", "sriperumbudur2007", "merchante2012", "chu2013"
    }  # fmt: skip


def lowest(*extras: str) -> dict[str, str]:
    said = subprocess.run(
        [sys.executable, ROOT / ".ci" / "lowest.py", *extras],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    return dict(line.split("==") for line in said.splitlines())


def test_every_dependency_has_a_lowest_version() -> None:
    names = {re.match(r"[\w-]+", text)[0] for text in PROJECT["dependencies"]}
    found = lowest("parquet")
    assert names | {"pyarrow"} == set(found)
    assert all(re.fullmatch(r"\d+(\.\d+)+|\d+", version) for version in found.values())


def test_the_core_tests_exist() -> None:
    lines = (ROOT / ".ci" / "core.txt").read_text(encoding="utf-8").splitlines()
    files = [line for line in lines if not line.startswith("#")]
    assert files
    for name in files:
        file, _, test = name.partition("::")
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8"), name
