"""Does the interval hold the error of the final model? A small draw of `benchmarks.coverage`."""

from typing import Any

import numpy as np

import eigensieve as es
from eigensieve.studies.data import check_data
from eigensieve.studies.estimates import ErrorEstimate, effective_size, error_estimate
from eigensieve.studies.plan import make_plan
from eigensieve.studies.run import run_plan

N_STUDIES = 40
P, N_SIGNAL, GAP = 60, 10, 1.5


def draw(
    rng: np.random.Generator, n: int, per_group: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two classes; samples of a group are alike."""
    groups = np.repeat(np.arange(n // per_group), per_group)
    y = rng.permutation(np.arange(n // per_group) % 2)[groups]
    common = rng.standard_normal((n // per_group, P))[groups]
    X = 0.8 * common + 0.6 * rng.standard_normal((n, P))
    X[y == 1, :N_SIGNAL] += GAP
    return X, y, groups


def study_once(
    seed: int, per_group: int, **options: Any
) -> tuple[float, ErrorEstimate, ErrorEstimate]:
    """The error of the final model, the interval of the tested samples alone, and the study's."""
    rng = np.random.default_rng([25, seed])
    X, y, groups = draw(rng, 30, per_group)
    given = groups if per_group > 1 else None
    data = check_data(X, y, given, None, "error")
    plan = make_plan(data, {"anova": es.RankedLDA("anova")}, n_repeats=1, **options)
    study = run_plan(data, plan, is_brief=True)
    found = study.honest_error
    assert found is not None
    fresh, labels, _ = draw(rng, 4000)
    truth = float(np.mean(study.final_estimator.predict(fresh) != labels))
    size = effective_size(found.wrong, given)
    plain = error_estimate(float(found.wrong.sum()), y.size, "", n_effective=size)
    return truth, plain, found.estimate


def covered(results: list[tuple[float, ErrorEstimate, ErrorEstimate]]) -> tuple[float, float]:
    """The share of studies that the plain interval and the study's cover."""
    shares = [
        np.mean([one[which].low <= one[0] <= one[which].high for one in results])
        for which in (1, 2)
    ]
    return float(shares[0]), float(shares[1])


def test_the_final_model_is_covered_where_k_is_chosen() -> None:
    """A few samples tell little of k, and the outer folds choose others than all samples do."""
    plain, own = covered([study_once(s, 1, ks=(1, 3, 10)) for s in range(N_STUDIES)])
    assert plain < 0.85  # why the tested samples alone are not enough
    assert own >= 0.95


def test_the_final_model_is_covered_with_groups() -> None:
    plain, own = covered([study_once(s, 2, ks=(5,)) for s in range(N_STUDIES)])
    assert plain < own
    assert own >= 0.9
