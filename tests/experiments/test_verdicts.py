"""Where chance has no part, the full protocol is run here, and its verdicts are known.

The figures are those of the papers and of an earlier reproduction (the TOML files), and the list of
exceptions is written by hand: a solver that no longer gives them fails here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from eigensieve.experiments.catalogue import find_experiments
from eigensieve.experiments.judge import Verdict
from eigensieve.experiments.runner import run_experiment

# cells that differ from the paper, cells that do not confirm the earlier run
KNOWN: dict[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]] = {
    "chu2013/table1": (set(), set()),
    "sriperumbudur2007/pitprops": (
        {("DC-PCA*", "subspace, %")},
        {("DC-PCA*", "adjusted, %")},
    ),
    "sriperumbudur2007/pitprops_first": (set(), set()),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_full_protocol(name: str, data_dir: Path) -> None:
    (experiment,) = find_experiments([name])
    result = run_experiment(experiment, n_jobs=1)
    assert result.trouble == ""
    differ = {(c.row, c.column) for c in result.cells if c.verdict == Verdict.DIFFERS}
    unconfirmed = {(c.row, c.column) for c in result.cells if c.confirms is False}
    assert (differ, unconfirmed) == KNOWN[name]
    verdicts = [cell.verdict for cell in result.cells]
    assert verdicts.count(Verdict.MATCHES) + result.n_confirmed[0] > 0
    assert Verdict.NOT_RUN not in verdicts
