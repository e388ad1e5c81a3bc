"""What a search tells while it runs, and who may listen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from .wording import rounded_up


@dataclass(frozen=True)
class Progress:
    """One progress event: which phase, how far, the incumbent and the bound so far."""

    solver: str
    phase: str
    step: int
    total: int | None = None
    objective: float | None = None
    bound: float | None = None
    n_nodes: int = 0
    seconds: float = 0.0

    def describe(self) -> str:
        """What is known of the optimum, in a line: 'best 2, bound 2.1, gap 5 %, 1,234 nodes'."""
        parts = []
        if self.objective is not None:
            parts.append(f"best {self.objective:.5g}")
        if self.bound is not None and math.isfinite(self.bound):
            parts.append(f"bound {self.bound:.5g}")
            if self.objective is not None and self.objective > 0:
                parts.append(f"gap {rounded_up(100 * (self.bound / self.objective - 1))} %")
        if self.n_nodes:
            parts.append(f"{self.n_nodes:,} nodes")
        return ", ".join(parts)


@runtime_checkable
class FitCallback(Protocol):
    """scikit-learn's protocol, as `sklearn.callback.FitCallback` has it."""

    def setup(self, estimator: Any, context: Any) -> Any: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> Any: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> Any: ...

    def teardown(self, estimator: Any, context: Any) -> Any: ...


Listener: TypeAlias = Callable[[Progress], Any]
Callback: TypeAlias = Listener | FitCallback


def follows_protocol(callback: Any) -> bool:
    """Whether it is a callback of scikit-learn's kind; a class has the methods, but is none."""
    return isinstance(callback, FitCallback) and not isinstance(callback, type)
