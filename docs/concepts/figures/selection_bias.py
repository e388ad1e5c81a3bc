"""Draws docs/concepts/images/selection-bias.svg: python docs/concepts/figures/selection_bias.py

Tables of pure noise (60 samples, 1,000 columns, two classes): the cross-validated error of 10
features that were selected on all samples, and that of 10 features selected in every training part
anew. The truth is 50 %. Prints the means.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import cross_val_predict

import eigensieve as es
from eigensieve.plots._style import FAINT, PALETTE, house_style

IMAGE = Path(__file__).parents[1] / "images" / "selection-bias.svg"
TABLES = 40


def errors(rng: np.random.Generator) -> tuple[float, float]:
    """The error with the selection outside and inside the folds."""
    X, y = rng.normal(size=(60, 1000)), np.arange(60) % 2
    lda = es.SparseLDA(n_features_to_select=10, certificate="none")
    chosen = lda.fit(X, y).get_support(indices=True)
    outside = cross_val_predict(lda, X[:, chosen], y, cv=5)
    inside = cross_val_predict(lda, X, y, cv=5)
    return float(np.mean(outside != y)), float(np.mean(inside != y))


def main() -> None:
    rng = np.random.default_rng(0)
    found = 100 * np.array([errors(rng) for _ in range(TABLES)])
    sys.stdout.write(f"means: {found.mean(axis=0)} %\n")
    with house_style(), matplotlib.rc_context({"svg.hashsalt": "eigensieve"}):
        figure = Figure(figsize=(6.4, 2.2), layout="constrained", facecolor="white")
        ax = figure.subplots()
        for row, (values, color) in enumerate(zip(found.T, PALETTE)):
            spread = row + 0.3 * (np.random.default_rng(row).random(TABLES) - 0.5)
            ax.plot(values, spread, "o", color=color, markersize=4, alpha=0.6)
        ax.axvline(50, color=FAINT, linestyle="--")
        ax.set(xlabel="cross-validated error on pure noise, %", xlim=(-2, 80), ylim=(1.5, -0.5))
        ax.set_yticks([0, 1], ["selected on\nall samples", "selected in\nevery fold"])
        figure.savefig(IMAGE, metadata={"Date": None})


if __name__ == "__main__":
    main()
