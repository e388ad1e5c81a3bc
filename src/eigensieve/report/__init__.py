"""One self-contained HTML page; matplotlib is imported with the first one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..studies.comparison import Comparison
    from ..studies.estimates import ErrorEstimate
    from ..studies.result import Study


def write_study_report(
    study: Study,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: str | None = None,
    held_out: ErrorEstimate | None = None,
) -> None:
    """Write the report of a study: one HTML file, no network, readable without script.

    Parameters
    ----------
    study : Study
    path : path
        Where to write; an older file is replaced.
    title : str, optional
    command : str, optional
        The command line that made the study, shown with the parameters.
    held_out : ErrorEstimate, optional
        The error on samples that were never shown to the study.
    """
    from .page import render_study
    from .shared import write_report

    write_report(render_study(study, title=title, command=command, held_out=held_out), path)


def write_comparison_report(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: str | None = None,
) -> None:
    """Write the report of a comparison of methods: one HTML file, no script, no network.

    Parameters
    ----------
    comparison : Comparison
    path : path
        Where to write; an older file is replaced.
    title, command : str, optional
    """
    from .comparison import render_comparison
    from .shared import write_report

    write_report(render_comparison(comparison, title=title, command=command), path)


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
