"""
Genes: a small panel that must work in the next hospital
========================================================

A study of two tumour types has 120 samples from six hospitals and 6,000 genes. Which few genes make
a panel, and how often will it be wrong **in a hospital that took no part**?

The data are simulated, with the habits of expression data: genes come in modules that move
together, every hospital shifts every gene a little, and hospitals see the two types in different
shares. So the truth is known, and new hospitals can be drawn at the end.
"""

# %%
# The table
# ---------
# 60 modules of 100 genes share a factor each. The type moves two of the factors, and twelve genes
# directly.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigensieve as es
from eigensieve.plots import CVPathDisplay, ProjectionDisplay, StabilityDisplay

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "grid.alpha": 0.3})
rng = np.random.default_rng(11)
N_GENES, MODULE = 6_000, 100
names = [f"M{j // MODULE:02d}-G{j % MODULE:02d}" for j in range(N_GENES)]
markers = rng.choice(np.arange(2 * MODULE, N_GENES), 12, replace=False)


def draw_hospital(n, share):
    """Samples of one hospital; a share of them is of type B."""
    y = np.where(np.arange(n) < round(n * share), "B", "A")
    factors = rng.normal(size=(n, N_GENES // MODULE))
    factors[:, :2] += 0.9 * (y == "B")[:, None]
    X = 0.7 * np.repeat(factors, MODULE, axis=1) + rng.normal(size=(n, N_GENES))
    X[:, markers] += 1.3 * (y == "B")[:, None]
    X += rng.normal(scale=0.7, size=N_GENES)  # the batch: this hospital's own offsets
    return pd.DataFrame(X, columns=names), y


shares = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9)
tables, labels = zip(*(draw_hospital(20, share) for share in shares))
X, y = pd.concat(tables, ignore_index=True), np.concatenate(labels)
hospital = np.repeat(np.arange(6), 20)
print(X.shape, pd.Series(y).value_counts().to_dict())

# %%
# The study
# ---------
# ``groups=`` keeps all samples of a hospital on one side of every split, inside and outside. The
# error then answers the question that was asked. Without it, the model may learn the hospitals.

ks = (2, 5, 10, 20)
study = es.study(X, y, ks=ks, groups=hospital, n_repeats=1)
careless = es.study(X, y, ks=ks, n_repeats=1)

for name, found in (("hospitals kept apart", study), ("hospitals mixed", careless)):
    error = found.honest_error
    interval = f"{error.low:.1%} to {error.high:.1%}"
    print(f"{name}: k = {found.best_k}, error {error.error:.1%} ({interval})")

# %%
# The genes, by name
# ------------------
# A name tells the module. ``prices`` says what a gene is worth, and which gene could stand in for
# it.

panel = pd.DataFrame(
    {
        "gene": [price.name for price in study.prices],
        "truly differs": [p.index in markers or p.index < 2 * MODULE for p in study.prices],
        "loss without it": [f"{price.loss:.1%}" for price in study.prices],
        "stand-in": [price.stand_ins[0].name for price in study.prices],
    }
)
print(panel.to_string(index=False))

# %%
# How far from the best set?
# --------------------------
# The bound is proved: no set of as many genes separates these samples better than that. It is about
# the criterion on these samples, not about the error on new ones.

solution = study.solution
print(f"score {solution.objective:.3f}, bound {solution.bound:.3f}, gap {solution.gap:.1%}")

# %%
# Ten hospitals that took no part
# -------------------------------
# This is what the error was meant to foretell. A real study cannot do it; a simulation can.

new = [draw_hospital(40, share) for share in np.linspace(0.2, 0.8, 10)]
X_new, y_new = pd.concat([table for table, _ in new]), np.concatenate([label for _, label in new])
predicted = study.predict(X_new)
print(f"error in new hospitals: {np.mean(predicted != y_new):.1%} of {len(y_new)} samples")
print("the first five:", ", ".join(predicted[:5]))

# %%
# Figures
# -------
# The error against the number of genes, hospitals kept apart.

figure, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
CVPathDisplay.from_study(study).plot(ax)

# %%
# In how many of the five training parts each gene was selected. None has all the hospitals.

figure, ax = plt.subplots(figsize=(5.5, 7), layout="constrained")
StabilityDisplay.from_study(study).plot(ax)

# %%
# The samples of the new hospitals, on the panel.

figure, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ProjectionDisplay.from_estimator(study.final_estimator, X_new, y_new).plot(ax)
plt.show()
