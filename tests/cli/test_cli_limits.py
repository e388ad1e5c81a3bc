"""Limits on sets in ``panels``, ``certify`` and ``fit``: against every set; words and refusals."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from tests.oracles import naive
from tests.oracles.limited import Wishes

NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
GROUPS = {"k": [0, 1, 4], "m": [1, 2, 3], "in, out": [5, 6]}  # beta is in two, theta in none
COSTS = [3.0, 2.5, 2.0, 0.0, 1.0, 0.5, 4.0, 1.5]
ABOUT = """name,group,price,gaps
beta,k ; m;,2.5,1
alpha,k,3,"1,5"
gamma,m,2,x
delta,m,0,-1
epsilon,k,1e0,1
zeta,"in, out",.5,
eta,"in, out",4,inf
theta,NA,1.5,2
other,z,7,8
"""
OF_GROUPS = ("--annotations", "about.csv", "--feature-groups", "group")
OF_COSTS = ("--annotations", "about.csv", "--costs", "price", "--max-cost")
BASE = ("t.csv", "--target", "state", "--shrinkage", 0.4)
PANELS = ("panels", *BASE, "--within", "40%", "--k", 3)


@pytest.fixture
def table(tmp_path: Path, run: Any) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    y = np.repeat(["ill", "well"], 20)
    shift = np.array([1.2, 1.1, 0.9, 0.8, 0.6, 0.5, 0.4, 0.3])
    X = rng.normal(size=(40, 8)) + (y == "ill")[:, None] * shift
    frame = pd.DataFrame(X, columns=NAMES).assign(state=y)
    frame.to_csv("t.csv", index=False)
    Path("about.csv").write_text(ABOUT, encoding="utf-8")
    return frame


def allowed_sets(table: pd.DataFrame, wishes: Wishes, k: int = 3) -> dict[tuple[int, ...], float]:
    """Every set that keeps the wishes, best first, with its score."""
    pencil = es.lda_pencil(table[NAMES], table["state"], shrinkage=0.4)
    A, B = np.asarray(pencil.A), np.asarray(pencil.B)
    sets = [S for S in itertools.combinations(range(8), k) if wishes.allow(S)]
    scores = {S: naive.score(A, B, list(S), "logdet") for S in sets}
    return dict(sorted(scores.items(), key=lambda each: -each[1]))


def names(S: tuple[int, ...]) -> list[str]:
    return [NAMES[j] for j in S]


def found_in_json(run: Any, *args: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*args, "--json").stdout)
    return found


EACH_ONE = dict.fromkeys(GROUPS, 1)
CASES = [
    (
        (*OF_GROUPS, "--at-most", 1),
        Wishes(GROUPS, most=EACH_ONE),
        ["at most 1 of each group"],
    ),
    (
        (*OF_GROUPS, "--at-most", "k=2", "--at-most", 1, "--at-least", "m=1"),
        Wishes(GROUPS, most=EACH_ONE | {"k": 2}, least={"m": 1}),
        ["at most 2 of 'k'", "at most 1 of each of the other groups", "at least 1 of 'm'"],
    ),
    (
        (*OF_GROUPS, "--at-least", 1, "--at-most", "in, out=1"),
        Wishes(GROUPS, least=EACH_ONE, most={"in, out": 1}),
        ["at most 1 of 'in, out'", "at least 1 of each group"],
    ),
    (
        (*OF_GROUPS, "--whole", '"in, out",m', "--whole", "m"),
        Wishes(GROUPS, whole=["in, out", "m"]),
        ["all or none of each of 'in, out', 'm'"],
    ),
    (
        (*OF_GROUPS, "--whole", "all"),
        Wishes(GROUPS, whole=list(GROUPS)),
        ["all or none of each group"],
    ),
    ((*OF_COSTS, 4.5), Wishes(costs=COSTS, max_cost=4.5), ["cost at most 4.5 in all"]),
    (
        (*OF_GROUPS, *OF_COSTS[2:], 6, "--at-most", "k=1"),
        Wishes(GROUPS, most={"k": 1}, costs=COSTS, max_cost=6.0),
        ["at most 1 of 'k'", "cost at most 6 in all"],
    ),
]


@pytest.mark.parametrize(("options", "wishes", "said"), CASES)
def test_panels_are_those_that_keep_the_limits(
    run, table: pd.DataFrame, options: tuple, wishes: Wishes, said: list[str]
) -> None:
    scores = allowed_sets(table, wishes)
    near = [S for S in scores if scores[S] >= 0.6 * max(scores.values())]
    assert 0 < len(near) < 56
    found = found_in_json(run, *PANELS, *options)
    assert [panel["features"] for panel in found["panels"]] == [names(S) for S in near]
    np.testing.assert_allclose([p["score"] for p in found["panels"]], [scores[S] for S in near])
    assert found["complete"] is True
    assert found["limits"] == said


@pytest.mark.parametrize(("options", "wishes", "said"), CASES)
def test_certify_knows_the_rivals(
    run, table: pd.DataFrame, options: tuple, wishes: Wishes, said: list[str]
) -> None:
    scores = allowed_sets(table, wishes)
    best, worst = next(iter(scores)), list(scores)[-1]
    certify = ("certify", *BASE, "--features")
    found = found_in_json(run, *certify, ",".join(names(best)), *options)
    assert found["status"] == "optimal"
    assert found["better"] is None
    assert found["limits"] == said
    if worst == best:  # the only one that is allowed
        return
    found = found_in_json(run, *certify, ",".join(names(worst)), *options)
    assert found["better"]["features"] == names(best)
    assert found["bound"] == pytest.approx(scores[best], rel=1e-5)


def test_it_is_said_what_was_asked(run, table: pd.DataFrame) -> None:
    result = run(*PANELS, *OF_GROUPS, "--at-most", 1, *OF_COSTS[2:], 6)
    line = "at most 1 of each group; cost at most 6 in all"
    assert f"\nlimits  {line}\n" in result.stdout
    assert "allowed panels of 3 features" in result.stdout
    groups = "note: There are 3 groups in 'group'; 7 of the 8 features have one.\n"
    assert result.stderr == groups
    page = Path("eigensieve-panels/panels.html").read_text(encoding="utf-8")
    assert f"<dt>Limits</dt><dd>{line}</dd>" in page
    said = run("certify", *BASE, "--features", "alpha,gamma", *OF_GROUPS, "--at-most", 1).stdout
    assert "\nlimits  at most 1 of each group\n" in said
    assert "llowed set of 2 features" in said
    free = run(*PANELS)
    assert "\nlimits" not in free.stdout
    page = Path("eigensieve-panels/panels.html").read_text(encoding="utf-8")
    assert "<dt>Limits" not in page
    assert found_in_json(run, *PANELS)["limits"] == []


@pytest.mark.parametrize(("options", "wishes", "said"), [CASES[1], CASES[-1]])
def test_proofs_of_what_keeps_the_limits(
    run, table: pd.DataFrame, options: tuple, wishes: Wishes, said: list[str]
) -> None:
    scores = allowed_sets(table, wishes)
    near = [S for S in scores if scores[S] >= 0.6 * max(scores.values())]
    run(*PANELS, *options, "--proof", "list.proof")
    shown = run("check-proof", "list.proof", "t.csv").stdout
    assert f"exactly the {len(near)} listed" in shown
    assert "at most 1 of 'm'" in shown or "cost at most 6 in all" in shown
    best = ",".join(names(near[0]))
    run("certify", *BASE, "--features", best, *options, "--proof", "one.proof")
    verdict = es.check_proof("one.proof", table[NAMES], table["state"])
    assert verdict.accepted
    assert verdict.bound == pytest.approx(scores[near[0]], rel=1e-5)


FIT = ("fit", *BASE, "--k", 3, "--ks", "3", "--repeats", 1, "--cv", 3)


def test_fit_keeps_the_limits(run, table: pd.DataFrame) -> None:
    wishes = Wishes(GROUPS, most={"m": 0}, costs=COSTS, max_cost=5.5)
    # fit standardises, which does not change the score of a set
    best = next(iter(allowed_sets(table, wishes)))
    assert best != next(iter(allowed_sets(table, Wishes())))
    options = (*OF_GROUPS, "--at-most", "m=0", *OF_COSTS[2:], 5.5, "--proof")
    said = run(*FIT, *options).stdout
    line = "at most 0 of &#39;m&#39;; cost at most 5.5 in all"
    assert "\nlimits  at most 0 of 'm'; cost at most 5.5 in all\n" in said
    report = Path("eigensieve-out/report.html").read_text(encoding="utf-8")
    assert f"<dt>Limits</dt><dd>{line}</dd>" in report
    verdict = es.check_proof("eigensieve-out/best.proof", table[NAMES], table["state"])
    assert verdict.accepted
    found = found_in_json(run, *FIT, *options)
    assert sorted(found["features"]) == sorted(names(best))
    assert found["limits"] == ["at most 0 of 'm'", "cost at most 5.5 in all"]
    assert found["status"] == found["proof"]["status"] == "optimal"
    selected = pd.read_csv("eigensieve-out/selected.csv")
    assert "price" in selected.columns
    assert found_in_json(run, *FIT, "--out", "free")["limits"] == []


def test_fit_by_another_method(run, table: pd.DataFrame) -> None:
    base = ("fit", "t.csv", "--target", "state", "--k", 2, "--ks", 2, "--cv", 3, "--repeats", 1)
    other = (*base, "--method", "anova")
    text = run(*other, *OF_GROUPS, "--at-most", 1, code=2).stderr
    assert "--feature-groups is not for method anova; methods that keep limits: sparse-lda" in text
    run(*other, "--annotations", "about.csv")


def test_columns_of_one_name_share_a_line(run, table: pd.DataFrame) -> None:
    """Two probes of one gene are in its group, whatever the second is called here."""
    twice = pd.concat([table["alpha"] + 0.1 * table["eta"], table], axis=1)
    twice.columns = ["alpha", *table.columns]
    twice.to_csv("t.csv", index=False)
    found = found_in_json(run, *PANELS, *OF_GROUPS, "--at-most", "k=1")
    assert any("alpha_2" in panel["features"] for panel in found["panels"])
    own = {"alpha", "alpha_2", "beta", "epsilon"}
    assert all(len(own & set(panel["features"])) <= 1 for panel in found["panels"])


REFUSED = [
    (("--at-most", 1), "--at-most needs --feature-groups"),
    (("--whole", "k"), "--whole needs --feature-groups"),
    (("--annotations", "about.csv"), "--annotations needs --feature-groups or --costs"),
    (OF_GROUPS, "--feature-groups needs --at-most, --at-least or --whole"),
    (("--feature-groups", "group", "--at-most", 1), "--feature-groups needs --annotations"),
    (("--annotations", "about.csv", "--costs", "price"), "--costs needs --max-cost"),
    (("--annotations", "about.csv", "--max-cost", 1), "--max-cost needs --costs"),
    ((*OF_COSTS, -1), "'-1' is not a number of at least 0"),
    ((*OF_GROUPS, "--at-most", "k"), "'k' is neither a whole number of at least 0, nor one after"),
    ((*OF_GROUPS, "--at-most", "-1"), "'-1' is neither a whole number"),
    ((*OF_GROUPS, "--at-most", "=1"), "'=1' is neither a whole number"),
    ((*OF_GROUPS, "--at-most", "k=1.5"), "'k=1.5' is neither a whole number"),
    ((*OF_GROUPS, "--at-most", 1, "--at-most", 2), "more than one number for all groups"),
    ((*OF_GROUPS, "--at-most", "k=1", "--at-most", "k=1"), "more than one number for 'k'"),
    ((*OF_GROUPS, "--at-least", "K=1"), "--at-least: no group is named 'K'; close: 'k'"),
    ((*OF_GROUPS, "--at-most", "zz=1"), "no group is named 'zz'; there are 'k', 'm', 'in, out'"),
    ((*OF_GROUPS, "--whole", "in, out"), "a name with a comma needs double quotes: '\"in, out\"'"),
    (("--annotations", "about.csv", "--feature-groups", "grup", "--at-most", 1), "close: 'group'"),
    (("--annotations", "about.csv", "--costs", "cost", "--max-cost", 1), "has no column 'cost'"),
    ((*OF_GROUPS, "--at-least", 3), "none keeps this one: at least 3 of 'in, out'"),
    (
        (*OF_GROUPS, "--at-least", "k=2", "--whole", "k,m"),
        "these cannot hold together: at least 2 of 'k'; all or none of 'k'; all or none of 'm'",
    ),
    ((*OF_COSTS, 1), "no set of 3 features keeps all limits; none keeps this one: cost at most 1"),
]


@pytest.mark.parametrize(("options", "says"), REFUSED)
def test_refusals(run, table: pd.DataFrame, options: tuple, says: str) -> None:
    result = run(*PANELS, *options, code=2)
    *_, line = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line
    assert not Path("eigensieve-panels").exists()


@pytest.mark.parametrize(
    ("feature", "cell", "more"),
    [
        ("beta", "'1,5'", ", with a decimal point"),
        ("beta", "'x'", ""),
        ("beta", "'-1'", ""),
        ("beta", "empty", ""),
        ("beta", "'inf'", ""),
        ("theta", "'NA'", ""),
    ],
)
def test_what_a_cost_must_be(run, table: pd.DataFrame, feature: str, cell: str, more: str) -> None:
    about = pd.read_csv("about.csv", dtype=str, keep_default_na=False)
    text = "" if cell == "empty" else cell.strip("'")
    about.loc[about["name"] == feature, "price"] = text
    about.to_csv("about.csv", index=False)
    says = f"the cell of feature {feature!r} in column 'price' is {cell}; it must be a number of "
    assert f"{says}at least 0{more}\n" in run(*PANELS, *OF_COSTS, 5, code=2).stderr


def test_features_that_the_file_does_not_know(run, table: pd.DataFrame) -> None:
    kept = [line for line in ABOUT.splitlines() if not line.startswith(("eta", "alpha"))]
    Path("about.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    says = "--costs: 2 of 8 features are not in about.csv ('alpha', 'eta'); each one needs a cost"
    assert says in run(*PANELS, *OF_COSTS, 5, code=2).stderr
    result = run(*PANELS, *OF_GROUPS, "--at-most", 1)
    assert "note: 2 of 8 features have no annotation.\n" in result.stderr
    assert "There are 3 groups in 'group'; 5 of the 8 features have one." in result.stderr
    empty = [",".join([line.split(",")[0], "", "1", "1"]) for line in kept[1:]]
    Path("about.csv").write_text("\n".join([kept[0], *empty]) + "\n", encoding="utf-8")
    says = "--feature-groups: no feature of the table has a group in 'group'"
    assert says in run(*PANELS, *OF_GROUPS, "--at-most", 1, code=2).stderr


def test_a_given_set_that_does_not_keep_them(run, table: pd.DataFrame) -> None:
    options = ("certify", *BASE, "--features", "alpha,beta", *OF_GROUPS, "--at-most", "k=1")
    result = run(*options, code=2)
    assert "error: the given set does not keep a limit: at most 1 of 'k'\n" in result.stderr


def test_wishes_of_the_cases_differ(table: pd.DataFrame) -> None:
    """Else a limit that is read wrongly might go unseen."""
    every = [list(allowed_sets(table, case[1])) for case in CASES]
    assert len({tuple(sets) for sets in every}) == len(CASES)
