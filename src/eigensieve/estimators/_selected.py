"""LDA on features that are selected: what `SparseLDA` and `RankedLDA` share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from ..errors import InputError
from ..pencil.checks import check_k
from ..pencil.criteria import fix_signs, generalized_eigh
from ..pencil.pencil import Pencil
from ..pencil.problem import make_problem
from ..tables.statistics import ClassStats
from ._projected import ProjectedClassifier
from ._rules import check_priors

Model = TypeVar("Model", bound="SelectedLDA")


class SelectedLDA(ProjectedClassifier):
    """The discriminant directions of some columns, and a classifier that sees these only."""

    _takes_tables = True

    def _set_projection(self, stats: ClassStats, small: Pencil, S: np.ndarray) -> None:
        """All but the rule: from statistics of the table and the pencil of the columns S alone.

        All of S count as selected, also constant ones, which have no weight.
        """
        most = min(stats.classes.size - 1, S.size)
        m = most if self.n_components is None else min(self.n_components, most)
        values, vectors = generalized_eigh(small.A, small.B)
        scalings = np.zeros((stats.n_features, m))
        scalings[S] = fix_signs(vectors[:, :m])
        self._set_directions(scalings, stats.mean, stats.means, S)
        positive = np.maximum(values[:most], 0.0)
        self.explained_variance_ratio_ = positive[:m] / max(positive.sum(), 1e-300)
        self.priors_ = check_priors(self.priors, stats.priors)

    def _of_size(self: Model, k: int, worker: Any) -> Model:
        """A copy for k features, not yet fitted, that knows the table of a fitted worker."""
        model = clone(self).set_params(n_features_to_select=k)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(worker, name):
                setattr(model, name, getattr(worker, name))
        return model


def allowed_sizes(ks: Iterable[int], least: int, most: int) -> list[int]:
    """Those that a search can give, each once, in order."""
    sizes = [k for k in sorted({check_k(k) for k in ks}) if least <= k <= most]
    if not sizes:
        raise InputError(f"no k of ks lies in {least}..{most}")
    return sizes


def possible_sizes(sizes: list[int], pencil: Pencil, **restrictions: Any) -> list[int]:
    """Those for which there is a set; ``restrictions`` are those of `make_problem`."""
    problem = make_problem(pencil, None, **restrictions)
    possible = [k for k in sizes if problem.next_size(k) == k]
    if not possible:
        raise InputError("for no k of ks there is a set that keeps all constraints")
    return possible
