"""How often does the 95 % interval of a study's error hold the truth, and how wide is it?

``python -m benchmarks.coverage [--studies 200]``. The truth is the error of the study's final model
on 16,000 fresh samples. Every setting is drawn, studied and judged so many times; printed are the
mean true error, the mean of the estimate less the truth, and for the plain Wilson interval (the
tested samples alone, as for held-out ones) and for that of the study the share of studies that it
covers, its Monte-Carlo standard error, and the median width. Both are of the same studies. No
constant of the interval was fitted; its form was chosen on other seeds. About 15 minutes on a core.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

import eigensieve as es
from eigensieve.studies.data import check_data
from eigensieve.studies.estimates import ErrorEstimate, effective_size, error_estimate
from eigensieve.studies.plan import make_plan
from eigensieve.studies.run import run_plan

SEED = 25
N_FRESH = 16_000
ENDS = ("low", "high")
KS = (1, 2, 5, 10)
ALIKE = 0.7  # of the variance of a column, the share that samples of a group have in common
METHODS = {
    # greedy search without exchanges: half the time, and the question is the interval
    "lda": es.SparseLDA(
        solver="greedy", certificate="none", solver_options={"n_starts": 0, "swap": False}
    ),
    "anova": es.RankedLDA("anova"),
}
Table = tuple[np.ndarray, np.ndarray, np.ndarray | None]


@dataclass(frozen=True)
class Setting:
    """A population, how much is drawn of it, and what is done.

    ``n_signal`` columns differ by ``gap`` standard deviations between two classes; of more
    classes, each has its own part of them. ``share`` is that of the second of two classes;
    ``k`` None: chosen from `KS`, nested.
    """

    title: str
    n: int
    p: int
    n_signal: int
    gap: float
    method: str = "lda"
    n_classes: int = 2
    share: float = 0.5
    per_group: int = 1
    k: int | None = None
    n_repeats: int = 1
    cv: int | str = 5


SETTINGS = (
    Setting("noise", 30, 200, 0, 0.0),
    Setting("weak", 60, 200, 10, 0.7),
    Setting("weak", 100, 200, 10, 0.6),
    Setting("strong", 30, 200, 10, 1.5),
    Setting("strong, 3 classes", 60, 200, 9, 1.2, n_classes=3),
    Setting("few columns", 150, 200, 3, 0.8, "anova"),
    Setting("weak", 30, 200, 10, 0.7, "anova"),
    Setting("1 of 5 in a class", 60, 100, 5, 1.0, "anova", share=0.2),
    Setting("5 repeats", 60, 200, 10, 0.7, "anova", n_repeats=5),
    Setting("groups of 2", 60, 100, 5, 1.2, per_group=2),
    Setting("groups of 3", 60, 100, 5, 1.0, "anova", per_group=3),
    Setting("groups of 4", 120, 100, 5, 1.0, "anova", per_group=4),
    Setting("groups of 3, noise", 90, 100, 0, 0.0, "anova", per_group=3),
    Setting("strong", 150, 100, 5, 1.2, "anova"),
    Setting("k fixed", 60, 200, 5, 1.0, k=5),
    Setting("k fixed", 100, 200, 10, 0.6, k=5),
    Setting("k fixed, 5 repeats", 100, 200, 5, 0.8, k=5, n_repeats=5),
    Setting("k fixed, leave-one-out", 40, 100, 5, 1.0, "anova", k=3, cv="loo"),
    Setting("k fixed, groups of 3", 60, 100, 5, 1.2, k=5, per_group=3),
    Setting("k fixed, 5 repeats", 60, 200, 5, 1.0, "anova", k=5, n_repeats=5),
)


def draw(setting: Setting, n: int, per_group: int, rng: np.random.Generator) -> Table:
    """A table of n samples; those of a group have one class."""
    n_groups = n // per_group
    if setting.n_classes == 2:
        label = (np.arange(n_groups) < round(setting.share * n_groups)).astype(int)
    else:
        label = np.arange(n_groups) % setting.n_classes
    groups = np.repeat(np.arange(n_groups), per_group)
    y = rng.permutation(label)[groups]
    X = rng.standard_normal((y.size, setting.p))
    if per_group > 1:
        common = rng.standard_normal((n_groups, setting.p))[groups]
        X = np.sqrt(1 - ALIKE) * X + np.sqrt(ALIKE) * common
    # of two classes the second has all of the columns
    own = (1,) if setting.n_classes == 2 else range(setting.n_classes)
    for klass, columns in zip(own, np.array_split(np.arange(setting.n_signal), len(own))):
        X[np.ix_(y == klass, columns)] += setting.gap
    return X, y, groups if per_group > 1 else None


def run(setting: Setting, seed: tuple[int, ...]) -> tuple[float, ErrorEstimate, ErrorEstimate]:
    """The truth, the plain interval and the study's."""
    rng = np.random.default_rng(seed)
    X, y, groups = draw(setting, setting.n, setting.per_group, rng)
    data = check_data(X, y, groups, None, "error")
    plan = make_plan(
        data, {"method": METHODS[setting.method]}, ks=KS if setting.k is None else (setting.k,),
        cv=setting.cv, n_repeats=setting.n_repeats, random_state=seed[-1],
    )  # fmt: skip
    study = run_plan(data, plan, is_brief=True)
    found = study.honest_error
    assert found is not None
    fresh, labels, _ = draw(setting, N_FRESH, 1, rng)
    truth = float(np.mean(study.final_estimator.predict(fresh) != labels))
    size = effective_size(found.wrong, groups)
    plain = error_estimate(float(found.wrong.sum()), y.size, "", n_effective=size)
    return truth, plain, found.estimate


def report(index: int, setting: Setting, n_studies: int) -> None:
    """A line of the table."""
    results = [run(setting, (SEED, index, study)) for study in range(n_studies)]
    truth = np.array([one[0] for one in results])
    off = np.array([one[2].error for one in results]) - truth
    cells = []
    for which in (1, 2):
        low, high = (np.array([getattr(one[which], end) for one in results]) for end in ENDS)
        share = float(np.mean((low <= truth) & (truth <= high)))
        se = np.sqrt(share * (1 - share) / n_studies)
        cells.append(f"{100 * share:6.1f} ±{100 * se:4.1f}  {np.median(high - low):5.3f}")
    head = f"{setting.title:<24}{setting.n:>4} x {setting.p}  {setting.method:<6}"
    print(f"{head}{truth.mean():6.3f} {off.mean():+7.3f}   {'    '.join(cells)}", flush=True)


def main() -> None:
    """All settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    n_studies = parser.parse_args().studies
    print(f"{n_studies} studies a setting; k chosen from {KS} unless fixed\n")
    print(f"{'':<41}true    bias   Wilson: covers, width    study: covers, width")
    for index, setting in enumerate(SETTINGS):
        report(index, setting, n_studies)
    print(f"\n{time.process_time() / 60:.0f} minutes of processor time")


if __name__ == "__main__":
    main()
