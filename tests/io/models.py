"""Models and files of them, for the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve.errors import ModelFileError
from eigensieve.io._model_file import digest_of
from eigensieve.io.model import LinearModel, load_model

AWKWARD = [0.1, 1e-300, -0.0, 5e-324, 1 / 3, 1.7976931348623157e308]


def make(**changes: Any) -> LinearModel:
    content: dict[str, Any] = {
        "features": ("β-actin", 'a,"b"', "g\ud800", "<b>"),
        "classes": ("u", "v", "w"),
        "coef": np.resize(AWKWARD, (3, 4)),
        "intercept": np.array([-0.0, 0.1, 2.0]),
        "center": np.array(AWKWARD[:4]),
        "scale": np.array([0.1, 1e-300, 5e-324, 1.0]),
        "scalings": np.resize(AWKWARD, (4, 2)),
        "offset": np.array([1e22, -1e-7]),
        "log2_floor": 0.1,
        "info": {"method": "sparse-lda", "k": 4, "x": 0.1, "nested": {"b": [1, None, True]}},
    }
    return LinearModel(**(content | changes))


def tame(log2_floor: float | None = None) -> LinearModel:
    rng = np.random.default_rng(3)
    return LinearModel(
        features=("a", "b"),
        classes=("u", "v", "w"),
        coef=rng.normal(size=(3, 2)),
        intercept=rng.normal(size=3),
        center=np.array([1.0, 2.0]),
        scale=np.array([2.0, 0.5]),
        scalings=rng.normal(size=(2, 1)),
        offset=np.array([0.25]),
        log2_floor=log2_floor,
        info={},
    )


def fails(path: Path, *words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    for word in (str(path), *words):
        assert word in str(caught.value)


def forge(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit the content and give the file a digest that fits."""
    document = json.loads(path.read_text())
    change(document["model"])
    document["digest"] = digest_of(document["model"])
    path.write_text(json.dumps(document))
