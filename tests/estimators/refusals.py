"""What every discriminant refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eigensieve.errors import InputError


def assert_wrong_data_is_refused(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Entries that are not finite, one class, equal class means, missing labels."""
    for bad, says in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoilt = X.copy()
        spoilt[2, 3] = bad
        with pytest.raises(ValueError, match=says):
            model.fit(spoilt, y)
    with pytest.raises(InputError, match=r"one class only.*'all'"):
        model.fit(X, np.full(len(y), "all"))
    with pytest.raises(InputError, match="class means are all equal"):
        model.fit(np.vstack([X, X]), np.repeat(["a", "b"], len(y)))
    with pytest.raises(InputError, match="missing labels"):
        model.fit(X, np.where(y == 0, np.nan, y))
