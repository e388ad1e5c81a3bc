"""Which features stand in for each other in a list of sets."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph


class Exchange(NamedTuple):
    """Two features, and how many pairs of listed sets differ by just these two."""

    one: int
    other: int
    n_pairs: int


def find_exchanges(sets: np.ndarray) -> tuple[Exchange, ...]:
    """All single exchanges between the sets (rows), the most frequent first."""
    rests: dict[bytes, list[int]] = defaultdict(list)
    for slot in range(sets.shape[1]):
        for rest, feature in zip(np.delete(sets, slot, axis=1), sets[:, slot].tolist()):
            rests[rest.tobytes()].append(feature)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for features in rests.values():
        ordered = sorted(features)
        for i, one in enumerate(ordered):
            for other in ordered[i + 1 :]:
                counts[one, other] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Exchange(*pair, n) for pair, n in ranked)


def connect(exchanges: tuple[Exchange, ...], size: int) -> tuple[np.ndarray, ...]:
    """Groups of features that exchanges connect, the largest first."""
    if not exchanges:
        return ()
    ends = np.array([pair[:2] for pair in exchanges]).T
    graph = sparse.coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(size, size))
    _, label = csgraph.connected_components(graph, directed=False)
    used = np.unique(ends)
    groups = [used[label[used] == own] for own in np.unique(label[used])]
    return tuple(sorted(groups, key=lambda group: (-group.size, group[0])))
