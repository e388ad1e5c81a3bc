"""The methods that can be fitted and compared by name: those of the package, and classical ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from ..errors import OptionError

PACKAGE, CLASSICAL = "package", "classical"


@dataclass(frozen=True, eq=False)
class Method:
    """A classifier that selects features, by name.

    Attributes
    ----------
    name : as on the command line
    title : in words, for reports
    home : "module:Class" in the estimators
    kind : "package" or "classical"
    fixed : parameters that make the class this method
    is_slow : whether comparisons leave it out unless it is named
    solvers : "module:NAME", where the names of its solvers are; or empty
    unlisted : those of them that are made for other problems, and not worth naming here
    """

    name: str
    title: str
    home: str
    kind: str = PACKAGE
    fixed: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False
    solvers: str = ""
    unlisted: tuple[str, ...] = ()

    def make(self, seed: int = 0, **options: Any) -> Any:
        """The unfitted estimator.

        ``options`` are parameters of the estimator such as include, exclude, solver, criterion,
        shrinkage, time_limit and class_weight; None (or an empty list) is as if it were not given.
        class_weight="balanced" becomes priors="balanced" where classes have no other weight. An
        option that this method does not have raises OptionError.
        """
        given = {name: value for name, value in options.items() if _is_given(value)}
        known = self._parameters()
        for name in given:
            if not self.has(name):
                raise OptionError(self._explain(name))
        self.check_solver(given.get("solver"))
        if "class_weight" in given and "class_weight" not in known:
            given["priors"] = _as_priors(self.name, given.pop("class_weight"))
        if "random_state" in known:
            given["random_state"] = seed
        return self._class()(**{**self.fixed, **given})

    def has(self, option: str) -> bool:
        """Whether the option can be set for this method."""
        known = self._parameters()
        if option == "class_weight" and option not in known:
            return "priors" in known and self.fixed.get("rule") != "centroid"
        return option in known and option not in self.fixed

    def check_solver(self, solver: str | None) -> None:
        """Raise OptionError for a solver that this method does not have; None is the default."""
        if solver is None:
            return
        if not self.has("solver"):
            raise OptionError(self._explain("solver"))
        module, _, name = self.solvers.partition(":")
        found = getattr(import_module(f"..{module}", __package__), name)
        names = tuple(found() if callable(found) else found)
        if solver not in names:
            listed = ", ".join(name for name in names if name not in self.unlisted)
            raise OptionError(
                f"--solver {solver!r} is not one that method {self.name} has: {listed}"
            )

    def _class(self) -> Any:
        module, _, name = self.home.partition(":")
        return getattr(import_module(f"..estimators.{module}", __package__), name)

    def _parameters(self) -> set[str]:
        return set(self._class()._get_param_names())

    def _explain(self, option: str) -> str:
        able = [method.name for method in METHODS.values() if method.has(option)]
        hint = f"methods that have it: {', '.join(able)}" if able else "no method has it"
        return f"{_as_flag(option)} is not for method {self.name}: {hint}"


def _is_given(value: Any) -> bool:
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value is not None
    return len(value) > 0


def _as_flag(option: str) -> str:
    """The option as the command line spells it."""
    return "--balanced" if option == "class_weight" else f"--{option.replace('_', '-')}"


def _as_priors(method: str, weight: Any) -> str:
    if isinstance(weight, str) and weight == "balanced":
        return weight
    raise OptionError(
        f"class_weight is {weight!r}; method {method} allows 'balanced' only (equal priors)"
    )


def _ranked(name: str, title: str, kind: str = CLASSICAL) -> Method:
    return Method(name, title, "ranked:RankedLDA", kind, {"ranker": name})


_GLOSS = "group_lasso_lda:GroupLassoLDA"
_OF_GLOSS = "scoring.options:SOLVERS"
_ALL = (
    Method(
        "sparse-lda",
        "Sparse LDA (Moghaddam 2006)",
        "sparse_lda:SparseLDA",
        solvers="search.solve:available_solvers",
        unlisted=("dspca", "spca"),  # for PCA
    ),
    Method(
        "gloss",
        "Group-lasso optimal scoring (Merchante 2012)",
        _GLOSS,
        fixed={"rule": "lda"},
        solvers=_OF_GLOSS,
    ),
    Method(
        "gloss-d",
        "Group-lasso optimal scoring, diagonal (Merchante 2012)",
        _GLOSS,
        fixed={"rule": "lda", "within": "diagonal"},
        solvers=_OF_GLOSS,
    ),
    # rule "lda": that of the nearest centroid for n <= p, and better than it for n > p
    Method(
        "sulda",
        "Sparse uncorrelated LDA (Chu and Zhang 2013)",
        "sparse_uncorrelated_lda:SparseUncorrelatedLDA",
        fixed={"rule": "lda"},
        solvers="pursuit.basis_pursuit:METHODS",
    ),
    Method(
        "plda",
        "Penalized LDA (Witten and Tibshirani 2011)",
        "penalized_lda:PenalizedLDA",
        fixed={"rule": "centroid"},
    ),
    Method(
        "slda",
        "Sparse optimal scoring (Clemmensen 2011)",
        "sparse_optimal_scoring:SparseOptimalScoring",
        fixed={"rule": "lda"},
        is_slow=True,
    ),
    _ranked("qalpha", "Q-alpha ranking (Wolf and Shashua 2005), LDA", PACKAGE),
    _ranked("pearson", "Correlation ranking, LDA"),
    _ranked("anova", "ANOVA ranking, LDA"),
    _ranked("snr", "Signal-to-noise ranking (Golub 1999), LDA"),
    _ranked("svm-rfe", "SVM-RFE (Guyon 2002), LDA"),
    _ranked("l1", "L1-penalised SVM ranking, LDA"),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
COMPARED = tuple(method.name for method in _ALL if not method.is_slow)


def find_method(name: str) -> Method:
    """The method of that name."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    close = get_close_matches(str(name).lower(), METHODS)
    hint = f"close: {', '.join(close)}" if close else f"there are {', '.join(METHODS)}"
    raise OptionError(f"no method is called {name!r}; {hint}")
