"""One self-contained HTML page; matplotlib is imported with the first one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any


def write_selector_report(
    selector: Any,
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> None:
    """Write the report of a fitted QAlphaSelector: one HTML file, no script, no network.

    Parameters
    ----------
    selector : QAlphaSelector
        A fitted one; with ``n_permutations`` the report says what is more than chance.
    path : path
        Where to write; an older file is replaced.
    names : sequence of str, optional
        One for every column it was fitted on; default: those of the table it was given.
    title : str, optional
    """
    from .selector import render_selector_report
    from .shared import write_report

    write_report(render_selector_report(selector, names=names, title=title), path)
