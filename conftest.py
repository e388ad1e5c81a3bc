"""Code blocks of the README and the docs are tests."""

from __future__ import annotations

from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
).pytest()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The blocks of a page build on one another: with several workers they stay together.

    Not by xdist_group: that mark is lost with pytest 9.2 and xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class PagesTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            page = nodeid.partition("::")[0]
            return page if page.endswith(".md") else nodeid

    return PagesTogether(config, log)
