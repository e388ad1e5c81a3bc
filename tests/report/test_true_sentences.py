"""Every sentence of a page against the raw results of its study, in the awkward cases.

The oracles are scipy's and scikit-learn's, or count again; none is the code that wrote the page.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import inf
from pathlib import Path

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold

import eigensieve as es
from eigensieve.cli._summary import echo_summary
from eigensieve.pencil.wording import percent
from eigensieve.report.comparison import render_comparison
from eigensieve.report.page import render_study
from eigensieve.studies.result import Study
from tests.report.awkward import CASES, studied, study_of, table
from tests.report.pages import text_of
from tests.studies.intervals import ends

pytestmark = pytest.mark.usefixtures("no_figures")

NUMBER = r"(\d[\d,]*(?:\.\d+)?)"


@pytest.fixture(params=list(CASES))
def study(request: pytest.FixtureRequest) -> Study:
    return study_of(request.param)


def said(study: Study) -> str:
    """The page without the call that is written out under Parameters."""
    html = re.sub("<script>.*?</script>", "", render_study(study), flags=re.DOTALL)
    text = text_of(html).replace("\u2212", "-")
    return re.sub(r"Parameters .*? Class separation", "", text, count=1)


def one(pattern: str, text: str) -> tuple[str, ...]:
    """The groups of the only match."""
    found = list(re.finditer(pattern, text))
    assert len(found) == 1, (pattern, len(found))
    return tuple(found[0].groups())


def close(shown: str, value: float) -> bool:
    """Whether a printed percentage is the value, to the digits that are printed."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - 100 * value) <= 0.5 * 10.0**-digits + 1e-9


# -- grammar -------------------------------------------------------------------------


def test_one_is_singular_and_nothing_is_unspeakable(study: Study, capsys: Capture) -> None:
    echo_summary(study, Path("out"), ["report.html"])
    for text in (said(study), capsys.readouterr().out, " ".join((*study.notes, *study.unfinished))):
        plural = r"(?:features|samples|classes|permutations|methods|parts|columns|values|repeats)"
        assert not re.findall(rf"(?<![\d.,=/+] )(?<![\d.,])\b1 (?:\w+ )?{plural}\b", text)
        assert not re.findall(
            r"\bnan\b|\binf\b|\bNone\b(?! of)|-0\.0+ %|-0\.0+\b(?!\d)|\(e?s\)", text
        )
        assert not re.findall(
            r"\b\d+ to (\d+) \1\b|(?<!\.)\.\.(?!\.)|,,| ,| \.(?![\w.])", text.strip()
        )


# -- error ---------------------------------------------------------------------------


def test_error_and_interval(study: Study) -> None:
    text, honest = said(study), study.honest_error
    if honest is None:
        assert "Error on new samples:" not in text
        assert "No error estimate:" in text
        return
    error, low, high = one(
        rf"Error on new samples: {NUMBER} % \(95 % interval {NUMBER} % to {NUMBER} %\)", text
    )
    wrong = honest.wrong[~np.isnan(honest.wrong)]
    assert close(error, wrong.mean())
    assert float(low) <= float(error) <= float(high)
    if study.source.groups is None and study.cv is not None:
        folds = re.match(r"(?:nested |\d+ times )?(\d+)-fold", honest.how)
        if folds:
            n_train, shift = wrong.size * (1 - 1 / int(folds[1])), 0.0
            others = [n_train, wrong.size * study.cv.n_repeats]
            if honest.chosen:
                of_k = next(row["error"] for row in study.rows if row["k"] == study.best_k)
                others, shift = [n_train], of_k - wrong.mean()
            expected = ends(wrong.mean(), wrong.size, others, shift)
            assert close(low, expected[0])
            assert close(high, expected[1])
    rule = "with the variance of the training sets (Nadeau and Bengio)"
    assert rule in text
    assert (f"{rule} and of the final model" in text) == (not honest.chosen)
    assert ("; wider on the side of the cross-validated error" in text) == bool(honest.chosen)
    everyone = wrong.size == study.n_samples
    assert ("Every sample was predicted" in text) == everyone
    assert (f"{wrong.size} of {study.n_samples} samples were predicted" in text) == (not everyone)


def test_whose_error_it_is(study: Study) -> None:
    text, honest = said(study), study.honest_error
    if honest is None:
        assert "error on new samples is that of" not in text
    elif honest.chosen:
        what = {(True, False): "k was", (False, True): "the setting was"}.get(
            (len(study.ks) > 1, len(study.settings) > 1), "k and the setting were"
        )
        assert f"that of the whole procedure: {what} chosen anew in each outer part" in text
    elif study.cv is not None and study.cv.ks:
        assert f"new samples is that of models with k = {study.best_k}, fitted in the same" in text
    else:
        assert "each with its own number of features" in text


def test_better_than_guessing(study: Study) -> None:
    text, honest = said(study), study.honest_error
    guess = 1 - max(Counter(study.labels.tolist()).values()) / study.n_samples
    (shown,) = one(rf"Always guessing the largest class would be wrong for {NUMBER} %", text)
    assert close(shown, guess)
    below = honest is not None and honest.high < guess
    chance = surely = False
    if study.null is not None:  # the other answer to the same question: both have to agree
        errors = study.null.errors
        as_good = np.count_nonzero(errors <= study.null.observed + 1e-12)
        surely = bool(20 * (1 + as_good) <= 1 + errors.size)
        chance = as_good > 0 and not surely
    better = below and not chance
    much = honest is not None and honest.high < guess / 2 and not chance
    claims = [r"features? separates? \d", r"predicts? the \d+ classes better", "selected to tell"]
    lead = text[: text.index("Features selected")]
    made = [bool(re.search(claim, lead[lead.index("feature") + 8 :])) for claim in claims]
    assert made == [much, better and not much, not better]
    if honest is not None and not better and study.score == "error":
        told = [f"; {claim}" in lead for claim in (
            "permuted labels were predicted as well too often", "the labels are predicted better",
            "the error cannot be told from guessing", "the error is larger than that of guessing",
        )]  # fmt: skip
        level = honest.low <= guess <= honest.high
        assert told == [below, level and surely, level and not surely, honest.low > guess]


def test_p_value(study: Study) -> None:
    text, null = said(study), study.null
    if null is None:
        assert "p = " not in text
        assert "chance (" not in text
        return
    as_good = sum(error <= null.observed + 1e-12 for error in null.errors.tolist())
    p = (1 + as_good) / (1 + len(null.errors))
    shown = re.findall(r"p = ([\d.e-]+)(, the smallest that (\d+) permutations? can give)?", text)
    assert len(shown) == 2  # in the summary, and in the section
    for number, floor, n in shown:
        assert float(number.rstrip(".")) == pytest.approx(p, rel=5e-3)
        assert bool(floor) == (as_good == 0)
        assert not floor or int(n) == len(null.errors)
    assert ("More than chance" in text) == (p <= 0.05)
    assert ("too few to be sure" in text) == (p > 0.05 and as_good == 0)


# -- the choice of k -----------------------------------------------------------------


def test_the_rule_for_k(study: Study) -> None:
    text = said(study)
    if not study.chose_k:
        assert "is the smallest k whose" not in text
        return
    rows = study.table
    score = "balanced_error" if "balanced error is within" in text else "error"
    lowest = rows[score].idxmin()
    limit = rows[score][lowest] + np.nan_to_num(rows["se"][lowest])
    assert study.best_k == rows["k"][rows[score] <= limit + 1e-9].min()
    has_error = bool(np.isfinite(rows["se"]).all())
    assert ("within one standard error" in text) == ("1-SE rule" in text) == has_error
    assert ("a single test part has no standard error" in text) == (not has_error)
    (k,) = one(rf"k = (\d+) is the smallest k {'whose' if has_error else 'of least'}", text)
    assert int(k) == study.best_k
    largest = "It is the largest that was tried" in text
    assert largest == (study.best_k == max(study.ks) < len(study.names))


def test_outer_parts_agree_only_if_they_made_the_final_choice(study: Study) -> None:
    text, honest = said(study), study.honest_error
    if honest is None or not honest.chosen:
        assert "of the nested check chose" not in text
        return
    chose, final, verdict = one(
        r"of the nested check chose (.*?); the final model has (.*?)\. (.*)", text
    )
    if len(study.settings) == 1:
        ks = re.findall(r"k = (\d+) \((once|\d+ times)\)", chose)
        counts = {int(k): 1 if n == "once" else int(n.split()[0]) for k, n in ks}
        assert counts == dict(Counter(study.ks[size] for _, size in honest.chosen))
        assert final == f"k = {study.best_k}"
    choice = study.settings.index(study.setting), study.ks.index(study.best_k)
    assert verdict.startswith(
        ("They agree:", "They agree on", "They agree, but there", "It agrees")
    ) == (set(honest.chosen) == {choice})
    assert verdict.startswith("They agree, but differ") == (
        len(set(honest.chosen)) == 1 and choice not in honest.chosen
    )
    assert verdict.startswith("That they differ") == (len(set(honest.chosen)) > 1)


def test_parts_that_agree_on_another_k_are_told_so() -> None:
    """The case of the spectra: 30 in all outer parts, 20 in the final model."""
    study = study_of("floor")
    other = next(k for k in study.ks if k != study.best_k)
    assert study.honest_error is not None
    chosen = [(0, study.ks.index(other))] * 5
    text = said(replace(study, honest_error=replace(study.honest_error, chosen=chosen)))
    assert f"chose k = {other} (5 times); the final model has k = {study.best_k}." in text
    assert "They agree, but differ from the final choice" in text


# -- the set -------------------------------------------------------------------------


def separation(study: Study, columns: tuple[int, ...]) -> float:
    """logdet(I + W^-1 B) of standardised columns, by numpy alone."""
    model = study.final_estimator.estimator_
    Z = study_rows[id(study)]
    labels = study.labels
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    means = {c: Z[labels == c].mean(axis=0) for c in np.unique(labels)}
    within = sum((Z[labels == c] - m).T @ (Z[labels == c] - m) for c, m in means.items()) / len(Z)
    total = Z.T @ Z / len(Z)
    shrunk = (1 - model.shrinkage_) * within + model.shrinkage_ * np.diag(np.diag(within))
    S = np.ix_(columns, columns)
    return float(
        np.linalg.slogdet(shrunk[S] + (total - within)[S])[1] - np.linalg.slogdet(shrunk[S])[1]
    )


study_rows: dict[int, np.ndarray] = {}


@pytest.mark.parametrize(
    "case", ["proved", "chance", "floor", "many classes", "k is p", "k of one"]
)
def test_no_set_is_better_than_what_is_proved(case: str) -> None:
    shapes = {"proved": (3, 1.0), "chance": (2, 0.0), "floor": (2, 3.0), "k is p": (2, 1.0),
              "k of one": (2, 4.0)}  # fmt: skip
    X, _ = table(12, 4.0, n=96, p=8) if case == "many classes" else table(*shapes[case])
    study = study_of(case)
    study_rows[id(study)] = X
    text, k = said(study), study.best_k
    own = separation(study, tuple(sorted(f.index for f in study.selected)))
    assert own == pytest.approx(study.solution.objective, rel=1e-8)
    best = max(separation(study, S) for S in combinations(range(X.shape[1]), k))
    summary = text[: text.index("Features selected")]
    p = X.shape[1]
    rivals = f"No other set of {k} of the {p} features" if k > 1 else f"No other feature of the {p}"
    if f"{rivals} separates the classes better: proved." in summary:
        assert own == pytest.approx(best, rel=1e-6)
    elif found := re.search(rf"{rivals} separates the classes more than {NUMBER} % bet", summary):
        excess = 100 * (study.solution.bound / own - 1)
        assert excess - 1e-9 <= float(found[1].replace(",", "")) <= 1.1 * excess + 1e-9
        assert best <= own * (1 + float(found[1].replace(",", "")) / 100) * (1 + 1e-9)
    else:
        assert k == X.shape[1]
        assert "All features are selected: there is no other set of as many." in summary
    if case == "proved":
        assert "better: proved." in summary


def test_prices(study: Study) -> None:
    text = said(study)
    section = text[text.rindex("Selected features") :]
    if not study.prices:
        for claim in ("Hardest to do", "without loss", "Easiest to replace", "could be exchanged"):
            assert claim not in section
        return
    losses = {price.name: price.loss for price in study.prices}
    free = max(losses.values()) <= 1e-9
    assert ("can be left out without loss" in text) == free
    kept = len(study.selected) - len(losses)
    assert ("that was not kept in by the user can be left out" in text) == (free and kept > 0)
    assert ("A negative price" in text) == (min(losses.values()) < -1e-9)
    if free:
        return
    name, lacks = one(
        r"Hardest to do without: (\w+)\. The best set found without it has (.*?) class", text
    )
    assert losses[name] == max(losses.values())
    assert close(one(rf"^{NUMBER} % less$", lacks)[0], losses[name])
    if len(losses) > 1:
        name, lacks = one(r"Easiest to replace: (\w+), without which a set with (.*?) class", text)
        assert losses[name] == min(losses.values())
        assert (lacks == "no less") == (losses[name] <= 1e-9)
    # the number of features that have a stand-in printed with less than 1.0 %
    table_text = re.search(r"Rank Feature.*?Hardest", section)
    assert table_text is not None
    rows = re.findall(r" (-?[\d.]+) % \w+ \((-?[\d.]+) %\)", table_text[0])
    n_cheap = sum(float(stand_in) < 1.0 for _, stand_in in rows)
    assert len(rows) == sum(bool(price.stand_ins) for price in study.prices)
    told = re.search(r"(\d+) selected features? could be exchanged for another one", text)
    assert (int(told[1]) if told else 0) == n_cheap


def test_a_price_at_the_edge_is_counted_as_it_is_printed() -> None:
    study = study_of("floor")
    price = study.prices[0]
    for loss, counted in ((0.0094, True), (0.0096, False), (0.0100001, False)):
        stand_ins = (replace(price.stand_ins[0], loss=loss),)
        edged = replace(study, prices=[replace(price, loss=loss, stand_ins=stand_ins)])
        text = said(edged)
        assert ("at a cost of less than 1 %" in text) == counted
        assert ("(1.0 %)" in text) != counted
    tiny = replace(study, prices=[replace(price, loss=0.0003)])
    assert "The best set found without it has 0.03 % less class separation." in said(tiny)


def test_stability(study: Study) -> None:
    text = said(study)
    found = [i for i in study.indices if i.k == study.best_k and i.index == i.index]
    claims = {
        "The same features are selected in every": lambda i: i == 1,
        "Mostly the same features": lambda i: 0.75 <= i < 1,
        "The selected features change in part": lambda i: 0.4 <= i < 0.75,
        "the selected features have little more in common than chance": lambda i: i < 0.4,
    }
    for claim, holds in claims.items():
        assert (claim in text) == (bool(found) and holds(found[0].index)), claim
    if "The same features are selected in every" in text:
        assert np.isin(study.stability[study.best_k], (0, 1)).all()
    if study.cv is None or "kept in by the user: that the same" in text:
        return
    shares = study.stability[study.best_k]
    own = [shares[feature.name] for feature in study.selected]
    n_often = sum(s >= 0.8 - 1e-12 for s in own)
    if len(own) == 1:
        (word,) = one(r"The selected feature was (also|not) selected in at least 80", text)
        assert (word == "also") == (n_often == 1)
    else:
        told = one(r"(\d+) of the (\d+) selected features \w+ also selected in at least 80", text)
        assert told == (str(n_often), str(len(own)))


@pytest.mark.parametrize("case", ["many classes", "proved", "no mistake"])
def test_shares_by_which_directions_are_weighted(case: str) -> None:
    """Of the variance of the class means along each direction; not of the class separation."""
    study = study_of(case)
    means = {c: study.scores[study.labels == c] for c in np.unique(study.labels)}
    between = sum(len(rows) * np.square(rows.mean(axis=0)) for rows in means.values())
    (shown,) = one(
        r"share of the variance between the classes, relative .*? \((.*?)\)", said(study)
    )
    shares = re.findall(NUMBER, shown)
    assert len(shares) == min(6, study.scores.shape[1])
    assert all(close(*pair) for pair in zip(shares, between / between.sum()))


def test_what_is_done_again(study: Study) -> None:
    """In every training part, and for every permutation."""
    text = said(study)
    assert ("scaled, anew in every training part" in text) == (
        study.cv is not None and study is not study_of("sparse")
    )
    if study.null is not None:
        many = {(True, False): "choice of k", (False, False): "k"}
        what = many.get((len(study.ks) > 1, len(study.settings) > 1), "choice of k and the setting")
        if "method's own number of features" in text:
            what = "parameters"
        assert f"one cross-validation each, with the same {what};" in text


def test_sparse_columns_are_not_called_centred(study: Study) -> None:
    assert ("scaled, not centred" in said(study)) == (study is study_of("sparse"))


# -- probabilities -------------------------------------------------------------------


def test_probabilities_in_words(study: Study) -> None:
    text, found = said(study), study.calibration
    inner = study.final_estimator.estimator_
    if found is None:
        assert "How sure are the predictions?" not in text
        assert inner.temperature_ == 1
        return
    assert inner.temperature_ == found.temperature >= 1
    right, sure = one(
        rf"{NUMBER} % of the predicted classes were right, and the mean probability given to them "
        rf"was {NUMBER} %",
        text,
    )
    P, truth = np.exp(found.before.log_proba), found.before.code
    assert close(right, np.mean(P.argmax(axis=1) == truth))
    assert close(sure, P.max(axis=1).mean())
    classes = np.arange(P.shape[1])
    happened = (truth[:, None] == classes).astype(float)
    for name, quality in (("without", found.before), ("with", found.after)):
        Q = np.exp(quality.log_proba)
        loss, brier = one(rf"\b{name} temperature (\d+\.\d+) (\d+\.\d+) \d", text)
        assert float(loss) == pytest.approx(log_loss(truth, Q, labels=classes), abs=6e-4)
        expected = (
            brier_score_loss(truth, Q[:, 1])
            if P.shape[1] == 2
            else np.square(Q - happened).sum(1).mean()
        )
        assert float(brier) == pytest.approx(expected, abs=6e-4)
    assert ("A temperature, by which scores" in text) == (found.temperature == 1)
    no_mistake = (P.argmax(axis=1) == truth).all()
    assert ("does not show that there are none" in text) == (no_mistake and found.temperature > 1)
    assert sum(one.n_samples for one in found.after.bins()) == truth.size


def test_the_temperature_is_that_of_predictions_made_again() -> None:
    """Out-of-fold scores by scikit-learn's folds and a fresh fit, and the best T on a fine grid."""
    X, y = table(2, 0.8, n=60)
    study = studied(X, y, es.SparseLDA(shrinkage=0.0), k=5, ks=(5,))
    found = study.calibration
    assert found is not None
    scores, truth = np.zeros((60, 2)), (y == "class 1").astype(int)
    parts = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    for train, test in parts:
        model = es.PreparedClassifier(es.SparseLDA(5, shrinkage=0.0)).fit(X[train], y[train])
        scores[test, 1] = model.decision_function(X[test])

    def total(log_t: float, rows: np.ndarray) -> float:
        log_p = log_softmax(scores[rows] / np.exp(log_t), axis=1)
        of_class = log_p[np.arange(rows.size), truth[rows]].sum()
        of_other = log_p[np.arange(rows.size), 1 - truth[rows]].mean()  # as half a mistake more
        return float(-of_class - of_other / 2 + log_t**2 / 2)

    grid = np.linspace(0, 3, 6001)
    every = np.arange(60)
    best = np.exp(grid[np.argmin([total(t, every) for t in grid])])
    assert best > 1.05
    assert found.temperature == pytest.approx(best, rel=1e-3)
    after = np.zeros((60, 2))
    for _, test in parts:
        rest = np.setdiff1d(every, test)
        own = np.exp(grid[np.argmin([total(t, rest) for t in grid])])
        after[test] = log_softmax(scores[test] / own, axis=1)
    assert found.after.log_loss == pytest.approx(-after[every, truth].mean(), rel=1e-3)
    assert found.before.log_loss == pytest.approx(-log_softmax(scores, axis=1)[every, truth].mean())
    # the final model: argmax as before, probabilities tempered
    final = study.final_estimator
    decision = final.decision_function(X)
    np.testing.assert_allclose(
        final.predict_proba(X)[:, 1], 1 / (1 + np.exp(-decision / found.temperature))
    )
    assert (final.predict(X) == np.where(decision > 0, "class 1", "class 0")).all()


# -- what is left undone -------------------------------------------------------------


def test_interrupted_studies_say_what_is_missing() -> None:
    text = said(study_of("interrupted"))
    assert "1 of 3 repeats of the cross-validation is done" in text
    assert "0 of 2 permutations are done" in text
    assert "Error on new samples:" in text
    early = said(study_of("interrupted early"))
    assert "The error on new samples was not estimated" in early
    assert "How sure are the predictions?" not in early


def test_best_k_of_a_method_without_k() -> None:
    cv = study_of("own number").cv
    assert cv is not None
    with pytest.raises(es.errors.InputError, match="chooses the number of features itself"):
        _ = cv.best_k


# -- the terminal --------------------------------------------------------------------

Capture = pytest.CaptureFixture[str]


def test_terminal(study: Study, capsys: Capture) -> None:
    echo_summary(study, Path("out"), ["report.html"])
    text = capsys.readouterr().out
    if study.honest_error is not None:
        error, *_ = one(rf"error   {NUMBER} % \(95 % interval {NUMBER} % to {NUMBER} %\)", text)
        assert close(error, np.nanmean(study.honest_error.wrong))
    if study.null is not None:
        as_good = int(np.sum(study.null.errors <= study.null.observed + 1e-12))
        assert ("no smaller one is possible" in text) == (as_good == 0)
    assert ("could be replaced by" in text) == any(price.stand_ins for price in study.prices)
    if study.calibration is not None:
        found = study.calibration
        told = one(
            r"probabilities: (.*?)[,;] log-loss ([\d.]+), Brier score ([\d.]+)( \(|\n)", text
        )
        needed = found.temperature > 1
        assert told[0] == (
            f"temperature {found.temperature:.3g}" if needed else "no temperature needed"
        )
        P = np.exp((found.after if needed else found.before).log_proba)
        loss = log_loss(found.before.code, P, labels=np.arange(P.shape[1]))
        assert float(told[1]) == pytest.approx(loss, abs=6e-4)
    assert ("distance to the optimum not computed" in text) == (study.solution.bound == inf)


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [(0, "0.0 %"), (0.0095, "0.9 %"), (0.00049, "0.05 %"), (0.0005, "0.1 %"), (0.9996, "99.96 %"),
     (1, "100.0 %"), (0.99949, "99.9 %"), (-1e-14, "0.0 %"), (1 - 1e-14, "100.0 %"),
     (2.5, "250.0 %"), (-0.0003, "-0.03 %"), (1.0004, "100.04 %")],
)  # fmt: skip
def test_percentages_at_the_edges(fraction: float, shown: str) -> None:
    assert percent(fraction) in (shown, shown.replace("0.9 %", "1.0 %"))


# -- comparisons ---------------------------------------------------------------------


def test_equal_methods_are_called_equal() -> None:
    X, y = table(2, 2.0)
    same = {"one": es.SparseLDA(), "other": es.SparseLDA(), "third": es.RankedLDA("anova")}
    found = es.compare(X, y, same, ks=(1, 2))
    errors = {name: s.honest_error.error for name, s in found.results.items() if s.honest_error}
    best = [name for name in errors if errors[name] == min(errors.values())]
    assert {"one", "other"} <= set(best) or min(errors, key=errors.__getitem__) == "third"
    text = text_of(render_comparison(found))
    listed = ", ".join(best[:-1]) + f" and {best[-1]}"
    assert f"Of 3 methods, {listed} have the same smallest error on new samples" in text


def test_methods_that_all_have_the_same_error() -> None:
    X, y = table(2, 30.0)
    found = es.compare(X, y, {"one": es.SparseLDA(), "other": es.RankedLDA("anova")}, ks=(1,))
    text = text_of(render_comparison(found))
    assert "Of 2 methods, one and other have the same smallest error on new samples: 0.0 %" in text
    assert "to compare" not in text
    assert not re.findall(r"\)\.[A-Z]", text)


def test_one_method_alone() -> None:
    X, y = table(2, 2.0)
    found = es.compare(X, y, {"mine": es.SparseLDA()}, ks=(1, 2))
    text = text_of(render_comparison(found))
    assert "mine has an error of" in text
    assert "smallest error on new samples" not in text.partition("Methods 1")[0]
    assert ". There is no other to compare it with." in text


def test_where_the_errors_of_a_comparison_come_from() -> None:
    X, y = table(3, 1.0)
    found = es.compare(X, y, {"lda": es.SparseLDA(), "own": es.PenalizedLDA(0.1)}, ks=(1, 2))
    assert found.how == (
        "nested 5-fold cross-validation, k chosen inside; own: 5-fold cross-validation, "
        "nothing chosen"
    )
