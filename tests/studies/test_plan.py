"""The plan of a study: options checked once against the table, in the words of who gave them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.studies.data import check_data
from eigensieve.studies.plan import StudyPlan, make_plan
from tests.studies.whole import make_table

X, y = make_table(30, 10, gaps=False)
X = X[:, :6]
DATA = check_data(X, y, None, [f"gene {j}" for j in range(6)], "error", "kind")


def plan_of(model: Any = None, **options: Any) -> StudyPlan:
    return make_plan(DATA, {"model": es.SparseLDA() if model is None else model}, **options)


def test_what_a_plan_holds() -> None:
    plan = plan_of(ks=(9, 3, 1), cv=4, random_state=7, score="balanced_error", n_repeats=2)
    assert (plan.ks, plan.k, plan.missing) == ((1, 3), None, "error")
    assert (plan.score, plan.n_repeats, plan.n_permutations) == ("balanced_error", 2, 0)
    assert (plan.splitter.cv, plan.splitter.seed) == (4, 7)
    assert plan.classes.tolist() == np.unique(y).tolist()
    assert plan.must_choose
    assert plan_of(ks=(1, 3), k=2).ks == (1, 2, 3)
    assert not plan_of(ks=(1, 3), k=2).must_choose
    assert not plan_of(ks=(3,)).must_choose
    own = plan_of(es.PenalizedLDA())
    assert (own.ks, own.n_sizes, own.must_choose) == ((), 1, False)


@pytest.mark.parametrize("flag", ["", "--"])
@pytest.mark.parametrize(
    ("constraints", "options", "words"),
    [
        ({"include": [2], "exclude": [4, 2]}, {}, "'gene 2' is in {0}include and in {0}exclude"),
        ({"exclude": range(6)}, {}, "{0}exclude leaves no feature to select; exclude fewer"),
        (
            {"exclude": [0]},
            {"k": 6},
            r"k is 6; .* 1 to 5 \({0}include, {0}exclude\)",
        ),
        ({}, {"k": 7}, "k is 7; this table allows 1 to 6$"),
    ],
)
def test_options_are_told_as_they_were_given(flag, constraints, options, words) -> None:
    model = es.SparseLDA(**{name: list(value) for name, value in constraints.items()})
    with pytest.raises(InputError, match=words.format(flag)):
        plan_of(model, **options, flag=flag)


def test_settings_that_leave_no_size_in_common() -> None:
    settings = {"a": es.SparseLDA(include=[0, 1, 2]), "b": es.SparseLDA(exclude=[1, 2, 3, 4, 5])}
    with pytest.raises(InputError, match=r"no k of \[1, 2\] lies in 3..1"):
        make_plan(DATA, settings, ks=(1, 2))


def test_the_key_tells_what_the_jobs_depend_on() -> None:
    key = plan_of(ks=(1, 2)).key(DATA)
    assert plan_of(ks=(2, 1), cv=3, n_repeats=9, random_state=4).key(DATA) == key
    others = [plan_of(ks=(1, 3)), plan_of(es.SparseLDA(shrinkage=0.3), ks=(1, 2))]
    assert len({key, *(plan.key(DATA) for plan in others)}) == 3
    assert plan_of(ks=(1, 2)).key(check_data(X + 1.0, y, None, None, "error")) != key


def test_jobs_elsewhere_do_not_get_the_table_with_it() -> None:
    wide = check_data(np.tile(X, 500), y, None, None, "error")
    assert len(pickle.dumps(make_plan(wide, {"model": es.SparseLDA()}))) < X.nbytes * 10
