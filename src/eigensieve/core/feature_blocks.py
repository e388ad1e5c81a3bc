"""Blocks of features: small beside a table, large beside a call."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK_ENTRIES = 2_000_000  # 16 MB of float64


def feature_slices(n_features: int, n_samples: int) -> Iterator[slice]:
    """Blocks of features with about `BLOCK_ENTRIES` entries each."""
    step = max(1, BLOCK_ENTRIES // max(1, n_samples))
    for first in range(0, n_features, step):
        yield slice(first, min(first + step, n_features))
