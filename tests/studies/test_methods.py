"""Methods by name: each fits, predicts and takes the options it has."""

import subprocess
import sys

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.studies.methods import METHODS, find_method

NAMES = (
    "sparse-lda", "gloss", "gloss-d", "sulda", "plda", "slda",
    "qalpha", "pearson", "anova", "snr", "svm-rfe", "l1",
)  # fmt: skip


def make_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 100))
    for k in range(3):
        X[y == k, 4 * k : 4 * k + 4] += 2.5
    return X, np.array(["a", "b", "c"])[y]


def test_names_and_titles_are_unique() -> None:
    assert tuple(METHODS) == NAMES
    assert all(name == method.name for name, method in METHODS.items())
    assert len({method.title for method in METHODS.values()}) == len(NAMES)
    assert {m.name for m in METHODS.values() if m.kind == "classical"} == set(NAMES[7:])
    assert {m.kind for m in METHODS.values()} == {"package", "classical"}


@pytest.mark.parametrize("name", NAMES)
def test_every_method_fits_and_predicts(name: str) -> None:
    X, y = make_data(0)
    X_new, y_new = make_data(1)
    model = find_method(name).make(0)
    assert not hasattr(model, "classes_")
    if "n_features_to_select" in model.get_params():
        model.set_params(n_features_to_select=8)
    assert model.fit(X, y).score(X_new, y_new) > 0.9
    assert 0 < model.get_support().sum() < 100
    assert model.transform(X_new).shape[0] == 60


def test_options_reach_the_estimator() -> None:
    model = find_method("sparse-lda").make(
        5, include=[3], exclude=[4], solver="exact", criterion="trace", shrinkage=0.5,
        time_limit=9.0, class_weight="balanced",
    )  # fmt: skip
    expected = es.SparseLDA(
        include=[3], exclude=[4], solver="exact", criterion="trace", shrinkage=0.5,
        time_limit=9.0, class_weight="balanced", random_state=5,
    )  # fmt: skip
    assert model.get_params() == expected.get_params()
    assert find_method("gloss-d").make(solver="dual").get_params()["within"] == "diagonal"
    assert find_method("svm-rfe").make(7).random_state == 7


def test_what_is_not_given_is_no_option() -> None:
    model = find_method("anova").make(0, include=(), exclude=[], time_limit=None, solver=None)
    assert model.get_params() == es.RankedLDA("anova", random_state=0).get_params()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "plda"])
def test_balanced_is_weights_or_priors(name: str) -> None:
    X, y = make_data(0)
    X, y = X[:50], y[:50]
    model = find_method(name).make(0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.priors_, 1 / 3)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("gloss", {"include": ["x"]}, r"--include is not for method gloss: .*it: sparse-lda$"),
        ("anova", {"time_limit": 3.0}, "--time-limit is not for method anova: .*sulda, slda"),
        ("plda", {"class_weight": "balanced"}, "--balanced is not for method plda"),
        ("slda", {"class_weight": {"a": 2.0}}, "method slda allows 'balanced' only"),
        ("l1", {"ranker": "anova"}, "--ranker is not for method l1: no method has it"),
        ("sparse-lda", {"colour": 1}, "--colour is not for method sparse-lda: no method has it"),
    ],
)
def test_options_of_other_methods_are_refused(name: str, options: dict, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        find_method(name).make(0, **options)


SOLVERS = {
    "sparse-lda": set(es.available_solvers()),
    "gloss": {"auto", "working-set", "dual", "variational"},
    "gloss-d": {"auto", "working-set", "dual", "variational"},
    "sulda": {"simplex", "bregman"},
}


@pytest.mark.parametrize("name", NAMES)
def test_every_method_knows_its_solvers(name: str) -> None:
    method = find_method(name)
    assert method.has("solver") == (name in SOLVERS)
    for solver in set.union(*SOLVERS.values()) | {"magic"}:
        if solver in SOLVERS.get(name, ()):
            method.check_solver(solver)
            assert method.make(0, solver=solver).solver == solver
            continue
        with pytest.raises(OptionError, match=f"--solver .*method {name}"):
            method.make(0, solver=solver)
    method.check_solver(None)


def test_unknown_names() -> None:
    with pytest.raises(OptionError, match="'svmrfe'; close: svm-rfe"):
        find_method("svmrfe")
    with pytest.raises(OptionError, match="'Gloss'; close: gloss"):
        find_method("Gloss")
    with pytest.raises(OptionError, match=r"there are sparse-lda, gloss, .*l1"):
        find_method("???")


def test_the_names_are_known_without_scikit_learn() -> None:
    code = "import sys, eigensieve.studies.methods; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
