"""What a user may ask of a set beside its size: limits on groups, and on what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError, OptionError
from .limits import Limits
from .names import listed

# A set may cost so much more than the limit, relatively: decimal fractions are no doubles.
ROUNDING_OF_COSTS = 1e-9


@dataclass(frozen=True, eq=False)
class Constraints:
    """Limits on a set of features, in the user's words.

    Attributes
    ----------
    groups : dict of name: features, or one label per feature (None, NaN or "" is no group)
        Features by index, or by name where they have names. Groups may overlap.
        A pandas Series has a feature, or its index, in its index.
    at_most, at_least : int for every group, or dict of group name: int
        How many features of a group a set may, or must, have.
    whole : True for every group, or group names
        Groups that are taken whole or not at all: a band of a spectrum.
    costs : one number per feature, or a dict or pandas Series that names them all; 0 or more
    max_cost : number
        What the features of a set may cost together.
    """

    groups: Any = None
    at_most: Any = None
    at_least: Any = None
    whole: Any = False
    costs: Any = None
    max_cost: float | None = None

    def by_index(self, p: int, names: Sequence[str] | None) -> Constraints:
        """The same with indices in the place of names."""
        groups = None if self.groups is None else _read_groups(self.groups, p, names)
        return replace(self, groups=groups, costs=_read_costs(self.costs, self.max_cost, p, names))

    def as_options(self) -> dict[str, Any]:
        """The keywords that say the same."""
        return {name: getattr(self, name) for name in NAMES}

    def in_words(self) -> list[str]:
        """What is asked, rule by rule; the groups list indices, as `by_index` has them."""
        groups = self.groups or {}
        most, least = (
            _numbers(given, "", groups) if groups else {} for given in (self.at_most, self.at_least)
        )
        whole = dict.fromkeys(_whole_names(self.whole, groups), 0)
        rules = {"at most {}": most, "at least {}": least, "all or none": whole}
        said = [line for rule, given in rules.items() for line in _say(rule, given, len(groups))]
        return said if self.max_cost is None else [*said, _say_cost(self.max_cost)]

    def limits(self, p: int, names: Sequence[str] | None = None) -> Limits | None:
        """The same as rows on p features; None if there is no limit."""
        groups = _read_groups(self.groups, p, names)
        most = _numbers(self.at_most, "at_most", groups)
        least = _numbers(self.at_least, "at_least", groups)
        whole = _whole_names(self.whole, groups)
        if groups and not (most or least or whole):
            raise OptionError("groups are given, but no limit on them: at_most, at_least or whole")
        rows: list[tuple[np.ndarray, np.ndarray, float, str]] = []
        for name, members in groups.items():
            one = np.ones(members.size)
            if name in most:
                rows.append((members, one, most[name], f"at most {most[name]} of {name!r}"))
            if name in least:
                rows.append((members, -one, -least[name], f"at least {least[name]} of {name!r}"))
            if name in whole and members.size > 1:
                says = f"all or none of {name!r}"
                for pair in pairwise([*members, members[0]]):
                    rows.append((np.array(pair), np.array([1.0, -1.0]), 0.0, says))
        costs = _read_costs(self.costs, self.max_cost, p, names)
        if costs is not None:
            assert self.max_cost is not None
            priced = np.flatnonzero(costs)
            most_paid = self.max_cost * (1 + ROUNDING_OF_COSTS)
            rows.append((priced, costs[priced], most_paid, _say_cost(self.max_cost)))
        if not rows:
            return None
        starts = np.cumsum([0, *(row[0].size for row in rows)])
        matrix = sparse.csr_array(
            (
                np.concatenate([row[1] for row in rows]),
                np.concatenate([row[0] for row in rows]),
                starts,
            ),
            shape=(len(rows), p),
        )
        matrix.sort_indices()
        return Limits(
            matrix,
            np.array([row[2] for row in rows], dtype=np.float64),
            tuple(row[3] for row in rows),
            tuple(groups[name] for name in whole),
        )


NAMES = tuple(field.name for field in fields(Constraints))


def take_constraints(options: dict[str, Any]) -> Constraints | None:
    """Those among some options, which lose them; None if they ask for nothing."""
    given = {name: options.pop(name) for name in NAMES if name in options}
    asks = any(value is not None and value is not False for value in given.values())
    return Constraints(**given) if asks else None


def as_constraints(given: Any) -> Constraints | None:
    """Constraints, or a dict of their parts."""
    if given is None or isinstance(given, Constraints):
        return given
    if not isinstance(given, Mapping) or not set(given) <= set(NAMES):
        raise OptionError(f"constraints is {given!r}; it must be a dict of {', '.join(NAMES)}")
    return Constraints(**given)


def _read_groups(groups: Any, p: int, names: Sequence[str] | None) -> dict[str, np.ndarray]:
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        groups = _by_label(groups, p, names)
    found = {str(name): _find(members, p, names, name) for name, members in groups.items()}
    if len(found) < len(groups):
        raise InputError("groups: two of them have the same name, as text")
    return found


def _by_label(labels: Any, p: int, names: Sequence[str] | None) -> dict[str, list[int]]:
    """Groups from one label per feature."""
    labels = _by_index_of(labels, "groups")
    if isinstance(labels, Mapping):
        labels = _in_order(labels, p, names, "groups")
    values = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else None
    if values is None or len(values) != p:
        raise InputError(
            f"groups is neither a dict of name: features nor a list of {p} labels, one per feature"
        )
    groups: dict[str, list[int]] = {}
    for j, label in enumerate(values):
        if label is not None and label == label and label != "":
            groups.setdefault(str(label), []).append(j)
    return groups


def _by_index_of(values: Any, what: str) -> Any:
    """Of a pandas Series a dict: its index says which feature each value is of."""
    if not (hasattr(values, "index") and hasattr(values, "to_dict")):
        return values
    if not values.index.is_unique:
        raise InputError(f"{what} has an index that names a feature twice")
    return dict(zip(values.index.tolist(), values.tolist()))


def _in_order(
    values: Mapping[Any, Any], p: int, names: Sequence[str] | None, what: str
) -> list[Any]:
    """The values of a dict with a key for every feature, in the order of the features."""
    features = _find(values, p, names, what)
    if features.size < p:
        raise InputError(f"{what} names {features.size} features, and there are {p}")
    keys = list(values)
    by_name = any(isinstance(key, str) for key in keys)
    order = _by_name(keys, names, what) if by_name else np.array(keys)
    given = list(values.values())
    return [given[place] for place in np.argsort(order).tolist()]


def _find(members: Any, p: int, names: Sequence[str] | None, group: Any) -> np.ndarray:
    """The features of a group, by index, sorted."""
    what = f"group {group!r}"
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise InputError(f"{what} is {members!r}; it must list its features")
    given = [*members]
    if any(isinstance(each, Iterable) and not isinstance(each, str) for each in given):
        raise InputError(f"{what} has lists in it; it must list its features")
    if any(isinstance(each, str) for each in given):
        found = _by_name(given, names, what)
    else:
        found = np.asarray(given)
        if found.dtype == bool and found.shape == (p,):
            found = np.flatnonzero(found)
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu":
        raise InputError(f"{what} must list indices or names of features, not {given!r:.80}")
    if found.min() < 0 or found.max() >= p:
        raise InputError(f"{what} has an index outside 0..{p - 1}")
    unique = np.unique(found).astype(np.intp)
    if unique.size < found.size:
        raise InputError(f"{what} names a feature twice")
    return unique


def _by_name(given: Sequence[Any], names: Sequence[str] | None, what: str) -> np.ndarray:
    if names is None:
        raise InputError(f"{what} has names, and the features have none: give indices")
    place = {str(name): j for j, name in enumerate(names)}
    missing = [each for each in given if str(each) not in place]
    if missing:
        raise InputError(f"{what}: there is no feature {missing[0]!r}")
    return np.array([place[str(each)] for each in given], dtype=np.intp)


def _numbers(given: Any, what: str, groups: Mapping[str, np.ndarray]) -> dict[str, int]:
    """The limit of every group that has one."""
    if given is None:
        return {}
    if not groups:
        raise OptionError(f"{what} is {given!r}, but there are no groups")
    if not isinstance(given, Mapping):
        given = dict.fromkeys(groups, given)
    known = {str(name): value for name, value in given.items()}
    unknown = sorted(set(known) - set(groups))
    if unknown:
        raise InputError(f"{what}: there is no group {unknown[0]!r}")
    for name, value in known.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
            raise OptionError(
                f"{what} of group {name!r} is {value!r}; it must be a whole number >= 0"
            )
    return {name: int(value) for name, value in known.items()}


def _say(rule: str, numbers: Mapping[str, int], n_groups: int) -> list[str]:
    """A rule in words, a line for every number; the number that most groups have comes last."""
    by_number: dict[int, list[str]] = {}
    for name, number in numbers.items():
        by_number.setdefault(number, []).append(name)
    lines: list[str] = []
    for number, names in sorted(by_number.items(), key=lambda each: len(each[1])):
        of = f"{'each of ' if len(names) > 1 else ''}{listed(names)}"
        if len(numbers) == n_groups and len(lines) == len(by_number) - 1 and len(names) > 1:
            of = "each of the other groups" if lines else "each group"
        lines.append(f"{rule.format(number)} of {of}")
    return lines


def _say_cost(most: float) -> str:
    return f"cost at most {most:.12g} in all"


def _whole_names(given: Any, groups: Mapping[str, np.ndarray]) -> list[str]:
    if given is None or given is False:
        return []
    if given is True:
        if not groups:
            raise OptionError("whole is True, but there are no groups")
        return list(groups)
    if not isinstance(given, Iterable):
        raise OptionError(f"whole is {given!r}; it must be True, or list names of groups")
    wanted = [given] if isinstance(given, str) else [str(name) for name in given]
    unknown = [name for name in wanted if name not in groups]
    if unknown:
        raise InputError(f"whole: there is no group {unknown[0]!r}")
    return wanted


def _read_costs(
    costs: Any, max_cost: Any, p: int, names: Sequence[str] | None
) -> np.ndarray | None:
    if costs is None and max_cost is None:
        return None
    if costs is None or max_cost is None:
        raise OptionError("costs and max_cost belong together: give both or neither")
    if isinstance(max_cost, bool) or not isinstance(max_cost, Real) or not math.isfinite(max_cost):
        raise OptionError(f"max_cost is {max_cost!r}; it must be a finite number")
    costs = _by_index_of(costs, "costs")
    if isinstance(costs, Mapping):
        costs = _in_order(costs, p, names, "costs")
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("costs must be numbers, one per feature") from None
    if values.shape != (p,):
        raise InputError(f"costs has the shape {values.shape}; it must have {p} numbers")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("costs has an entry that is negative, infinite or missing")
    return values
