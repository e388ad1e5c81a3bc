"""Blocks of features: small beside a table, large beside a call."""

from __future__ import annotations

from collections.abc import Iterator

FEATURE_ENTRIES = 2_000_000  # 16 MB of float64
DEVICE_ENTRIES = 2**27  # 1 GB of float64: a device has the memory, and is slow to call


def feature_slices(n_features: int, n_samples: int, entries: int | None = None) -> Iterator[slice]:
    """Blocks of features with about so many entries (default `FEATURE_ENTRIES`) each."""
    step = max(1, (entries or FEATURE_ENTRIES) // max(1, n_samples))
    for first in range(0, n_features, step):
        yield slice(first, min(first + step, n_features))
