"""What a list of near-optimal sets says, in sentences: the same in a terminal and on a page.

A set is called a panel here, as in laboratories.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...pencil.wording import ROUND_OFF, counted, percent, rounded_down
from .sets import TIE, NearOptimalSets

MAX_NAMES = 12
MAX_EXCHANGES = 3
SMALLEST = 1e-6  # a share below which completeness is not worth a number


def describe(found: NearOptimalSets) -> list[str]:
    """Five sentences or fewer: how many, which features, what can be exchanged or spared."""
    sentences = (how_many, which_occur, which_in_all, which_exchanged, what_is_spared)
    return [text for text in (sentence(found) for sentence in sentences) if text]


def within(found: NearOptimalSets) -> str:
    """'within 1 % of the best'."""
    return f"within {share(found)} of the best" if found.within else "as good as the best"


def share(found: NearOptimalSets) -> str:
    """What may be lost: '1 %'."""
    return f"{100 * found.within:.6g} %"


def looked_for(found: NearOptimalSets) -> str:
    """The panels that ``never`` and ``core`` are about: 'that loses less than 0.6 %' if not all."""
    if found.level <= found.threshold:
        return within(found)
    least = found.loss_of(found.level)
    return f"that loses less than {rounded_down(100 * least)} %" if least > SMALLEST else ""


def loss(value: float) -> str:
    """What a panel loses: '0.32 %', or 'nothing'."""
    if value <= ROUND_OFF:
        return "nothing"
    return f"{100 * value:.2f} %" if value >= 5e-5 else percent(value)


def how_many(found: NearOptimalSets) -> str:
    """The number of panels, and whether that is all of them."""
    n, features = found.n_sets, counted(found.k, "feature")
    allowed = "allowed " if is_constrained(found) else ""
    if found.is_complete and n == 1:
        if not has_choice(found):
            return f"There is no other {allowed}panel of {features}."
        return f"No other {allowed}panel of {features} is {within(found)}: proved."
    are = f"{counted(n, f'{allowed}panel')} of {features} {'is' if n == 1 else 'are'}"
    if found.is_complete and not found.within:
        return f"{are} equally good, and none is better: proved."
    if found.is_complete:
        return f"{are} {within(found)}, the best included: proved.{_ties(found)}"
    known, is_alone = found.complete_within, n == 1 and not found.is_capped
    at_least = "More than" if found.is_capped else "At least"
    if known is None and is_alone:
        none = f"No other {allowed}panel of {features} is known to be {within(found)} found"
        return f"{none}; there may be some, and better ones."
    if known is None:
        more = "there may be more, and better ones"
        return f"{at_least} {are} {within(found)} found, itself included; {more}.{_ties(found)}"
    nearly_all = rounded_down(100 * known) if known > SMALLEST else "0"
    missing = "none that loses less than " + f"{nearly_all} % is missing"
    if nearly_all == "0":
        missing = "none is better than the first"
    if found.is_capped:
        only = "the best one found is" if n == 1 else f"the best {n:,} found are"
        return f"More than {are} {within(found)}, of which {only} listed; {missing}.{_ties(found)}"
    if n == 1:
        return f"No other {allowed}panel of {features} is known to be {within(found)}; {missing}."
    return f"At least {are} {within(found)}, the best included; {missing}.{_ties(found)}"


def _ties(found: NearOptimalSets) -> str:
    tied = int(np.sum(found.losses <= TIE))
    if tied < 2:
        return ""
    return f" {'All' if tied == found.n_sets else f'The first {tied:,}'} are equally good."


def which_occur(found: NearOptimalSets) -> str:
    """How many features occur, and how many never do."""
    p = found.n_features
    n_in = int(np.count_nonzero(found.frequency))
    rest = p - n_in
    if found.is_complete:
        if found.n_sets == 1:
            return ""
        if not rest:
            return "Every feature occurs in at least one of them."
        none = "the other one is" if rest == 1 else f"the other {rest:,} are"
        return f"{n_in:,} of the {counted(p, 'feature')} occur in them, {none} in none: proved."
    occur = f"{n_in:,} of the {counted(p, 'feature')} occur in those listed"
    near = looked_for(found)
    never = np.count_nonzero(found.frequency[found.never] == 0) if near else 0
    if found.n_sets == 1:
        some = f"{never:,} of the {counted(p, 'feature')} {'is' if never == 1 else 'are'}"
        return f"{some} in no panel {near}: proved." if never else ""
    if not rest:
        return f"{occur}."
    if not never:
        return f"{occur}; whether others could is not known."
    proved = f"{never:,} {'is' if never == 1 else 'are'} in none {near}: proved"
    if never == rest:
        return f"{occur}; the other {proved}."
    return f"{occur}; {proved}. Of the other {rest - never:,} it is not known."


def which_in_all(found: NearOptimalSets) -> str:
    """The features that no panel does without."""
    if found.n_sets == 1:
        return _in_any(found)
    always = np.flatnonzero(found.frequency >= 1.0)
    if not always.size:
        return f"No feature is in all of {'them' if found.is_complete else 'those listed'}."
    are = f"{counted(always.size, 'feature')} {'is' if always.size == 1 else 'are'} in all of"
    kept = np.intersect1d(always, kept_in(found)).size
    by_user = ""
    if kept:
        some = f"{kept:,} of them " if kept < always.size else ""
        by_user = f" ({some}kept in by the user)"
    if found.is_complete:
        return f"{are} them{by_user}: {named(found, always)}."
    text = f"{are} those listed{by_user}: {named(found, always)}"
    near, core = looked_for(found), np.intersect1d(found.core, always)
    if not near or not core.size:
        return f"{text}."
    which = "" if core.size == always.size else f": {named(found, core)}"
    return f"{text}; proved for every panel {near}{which}."


def _in_any(found: NearOptimalSets) -> str:
    """Of a list that is not complete, and has one panel: what is proved of all others."""
    near, n = looked_for(found), found.core.size
    if found.is_complete or not near or not n:
        return ""
    are = f"{counted(n, 'feature')} {'is' if n == 1 else 'are'} in every panel {near}"
    return f"{are}: {named(found, found.core)} (proved)."


def which_exchanged(found: NearOptimalSets) -> str:
    """The features that take each other's place most often."""
    top = found.exchanges[:MAX_EXCHANGES]
    if not top:
        return ""
    pairs = [
        f"{found.name_of(pair.one)} and {found.name_of(pair.other)} "
        f"({counted(pair.n_pairs, 'pair of panels', 'pairs of panels')})"
        for pair in top
    ]
    more = found.exchanges[len(top) : len(top) + 1]
    example = ", for example" if more and more[0].n_pairs == top[0].n_pairs else ""
    often = " most often" if more and not example else ""
    return f"Features that{often} take each other's place{example}: {'; '.join(pairs)}."


def what_is_spared(found: NearOptimalSets) -> str:
    """Which features of the best panel can be done without, one at a time."""
    places = {j: found.without(j) for j in found.sets[0].tolist()}
    costs = [float(found.losses[place]) for place in places.values() if place is not None]
    if not costs:
        return ""
    low, high = loss(min(costs)), loss(max(costs))
    price = f"at a loss of {low}"
    if low != high:
        price = f"at a loss of {low.replace('nothing', '0')} to {high}"
    if high == "nothing":
        price = "without loss"
    spared = counted(len(costs), "feature")
    singly = ", one at a time," if len(costs) > 1 else ""
    text = f"{spared} of the best panel can be replaced{singly} {price}"
    needed = len(places) - len(costs)
    if not needed:
        return f"{text}."
    other = "the other one is" if needed == 1 else f"the other {needed} are"
    return f"{text}; {other} in all panels{'' if found.is_complete else ' listed'}."


def without(found: NearOptimalSets, feature: int) -> str:
    """What a panel without this feature loses, in a sentence; the features are in the list."""
    name = found.name_of(feature)
    place = found.without(feature)
    if place is not None:
        n = int(np.count_nonzero(~(found.sets == feature).any(axis=1)))
        which = f"{n:,} of the {found.n_sets:,} panels {'does' if n == 1 else 'do'}"
        if place == 0:
            return f"{which} without {name}, the best one among them."
        best = "it is" if n == 1 else "the best of them is"
        lost = loss(float(found.losses[place]))
        return f"{which} without {name}; {best} number {place + 1:,} and loses {lost}."
    if feature in kept_in(found):
        return f"{name} was kept in by the user."
    near = looked_for(found)
    if near and (found.is_complete or feature in found.core):
        return f"No panel {near} does without {name}: proved."
    return f"None of the panels listed does without {name}."


def kept_in(found: NearOptimalSets) -> list[int]:
    """The features that the user wants in every panel."""
    return [int(j) for j in found.problem.get("include", ())]


def is_constrained(found: NearOptimalSets) -> bool:
    """Whether the user has ruled out panels, by constraints of any kind."""
    asked = found.problem
    kept = any(len(asked.get(name, ())) > 0 for name in ("include", "exclude"))
    limits = asked.get("constraints")
    return kept or (limits is not None and any(map(_is_asked, limits.as_options().values())))


def has_choice(found: NearOptimalSets) -> bool:
    """Whether features are left to choose, as far as include and exclude say."""
    asked = found.problem
    kept_in, kept_out = (len(asked.get(name, ())) for name in ("include", "exclude"))
    return found.k not in (found.n_features - kept_out, kept_in)


def _is_asked(value: Any) -> bool:
    return value is not None and value is not False


def place_of(found: NearOptimalSets, support: Iterable[int]) -> int | None:
    """Where a set is in the list; None if it is not there."""
    wanted = np.sort(np.array(list(support), dtype=np.intp))
    if wanted.size != found.k:
        return None
    rows = np.flatnonzero((found.sets == wanted).all(axis=1))
    return int(rows[0]) if rows.size else None


def named(found: NearOptimalSets, features: Iterable[int]) -> str:
    """Names, a dozen at most."""
    names = [found.name_of(int(j)) for j in features]
    more = len(names) - MAX_NAMES
    return f"{', '.join(names[:MAX_NAMES])} and {more:,} more" if more > 0 else ", ".join(names)
