"""The seeds of the repeats of a study, as documented: the first is the study's own."""

from __future__ import annotations

import numpy as np


def seed_of(seed: int, repeat: int) -> int:
    if repeat == 0:
        return seed
    return int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
