"""
Genes: every panel that is as good
==================================

"Which six genes?" seldom has one answer. This page lists **all** panels of six, out of 3,000 genes,
whose separation of two types of tumour is within two percent of the best: which genes are in all of
them, which in none, which stand in for each other, and how to choose one.

The data are simulated. As in expression data genes come in modules that move together, and so many
panels are nearly as good. The truth is known, and new samples can be drawn at the end.
"""

# %%
# The table
# ---------
# 60 modules of 50 genes share a factor each. The type moves three of the factors, and five other
# genes directly. 100 samples.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigensieve as es
from eigensieve.plots import PanelsDisplay

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "grid.alpha": 0.3})
rng = np.random.default_rng(1)
N_GENES, MODULE, K = 3_000, 50, 6
module = [f"M{j // MODULE:02d}" for j in range(N_GENES)]
names = [f"{module[j]}-G{j % MODULE:02d}" for j in range(N_GENES)]
markers = rng.choice(np.arange(3 * MODULE, N_GENES), 5, replace=False)
differs = {names[j] for j in [*range(3 * MODULE), *markers]}


def draw_tumours(n):
    """Samples, half of them of type B."""
    y = np.repeat(["A", "B"], n // 2)
    factors = rng.normal(size=(n, N_GENES // MODULE))
    factors[:, :3] += 1.0 * (y == "B")[:, None]
    X = np.repeat(factors, MODULE, axis=1) + 0.6 * rng.normal(size=(n, N_GENES))
    X[:, markers] += 1.0 * (y == "B")[:, None]
    return pd.DataFrame(X, columns=names), y


X, y = draw_tumours(100)
print(X.shape, pd.Series(y).value_counts().to_dict())

# %%
# All panels within two percent
# -----------------------------
# ``near_optimal`` takes the table as ``fit`` does. That the list is complete is proved: no other
# six genes come as close.

lda = es.SparseLDA(K)
found = lda.near_optimal(X, y, within=0.02)
print(f"{found.n_sets} panels; complete: {found.is_complete}; {found.seconds:.1f} s")
for within in (0.001, 0.005, 0.01, 0.02):
    print(f"within {within:.1%} of the best: {np.sum(found.losses <= within)}")
print(found.to_frame().head(3).drop(columns="score").round(4).to_string(index=False))

# %%
# Always, often, never
# --------------------
# A gene of ``core`` is in every panel. That a gene is in the best panel says less: one of its six
# is in every eleventh panel only.

best = set(found.sets[0])
table = pd.DataFrame({"share": found.frequency, "best panel": False}, index=names)
table.iloc[list(best), 1] = True
table["truly differs"] = [name in differs for name in names]
shown = table[table["share"] > 0].sort_values("share", ascending=False, kind="stable")
print(shown.head(14).to_string(formatters={"share": "{:.0%}".format}))
print(f"in all panels: {', '.join(names[j] for j in found.core)}")
print(f"in some: {len(found.shared)}; in none, proved: {len(found.never):,} of {N_GENES:,}")

# %%
# Who stands in for whom
# ----------------------
# Two genes take each other's place if two panels differ by just these. The most frequent pairs are
# of one module.

for pair in found.exchanges[:5]:
    print(f"{names[pair.one]} or {names[pair.other]}: {pair.n_pairs} pairs of panels")
for group in found.exchange_groups:
    print(f"a group of {len(group)} genes, of modules", *sorted({module[j] for j in group}))

# %%
# Do without a gene
# -----------------
# An assay may fail, or a gene be patented. For each gene of the best panel, here is the best panel
# without it.

for j in found.sets[0]:
    place = found.without(names[j])
    if place is None:
        print(f"{names[j]}: no panel within 2 % does without it")
    else:
        new = " and ".join(names[i] for i in found.sets[place] if i not in best)
        print(f"{names[j]}: panel {place + 1} ({found.losses[place]:.2%} less) has {new}")

# %%
# At most one gene of each module
# -------------------------------
# The list, and the proof that it is complete, keep limits on groups of genes. ``groups`` is one
# label per gene, as a table of annotations has it, or a dict of names.

limits = {"groups": module, "at_most": 1}
spread = es.SparseLDA(K, constraints=limits).near_optimal(X, y, within=0.02)
lost = 1 - spread.best.objective / found.best.objective
print(f"the best such panel scores {lost:.2%} less; {spread.n_sets} are within 2 % of it")

# %%
# A proof for others
# ------------------
# The file shows to anybody who has the table that no panel is missing.

file = Path(tempfile.mkdtemp()) / "panels.proof"
lda.near_optimal(X, y, within=0.02, proof=file)
print(es.check_proof(file, X, y).explain())

# %%
# The model on the panel that you choose
# --------------------------------------
# With all six in ``include`` the panel is given, and only the classifier is fitted. Here this is
# done for every panel, and 2,000 new tumours are classified: by the list alone nobody could have
# told which panel errs least. So choose by what the data do not know: what can be measured, what it
# costs, what is understood.

X_new, y_new = draw_tumours(2_000)
errors = np.empty(found.n_sets)
for i, panel in enumerate(found.sets):
    model = es.SparseLDA(K, include=[names[j] for j in panel]).fit(X, y)
    errors[i] = 1 - model.score(X_new, y_new)
print(f"error of the best panel {errors[0]:.1%}, of all {errors.min():.1%} to {errors.max():.1%}")
print(f"{np.sum(errors < errors[0])} of {found.n_sets - 1} panels err less than the best one")

# %%
# Figures
# -------
# The panels, the best first: a column for every gene that occurs. Orange genes are in all of them.

figure, ax = plt.subplots(figsize=(6.5, 8), layout="constrained")
display = PanelsDisplay.from_sets(found).plot(ax)

# %%
# What the 100 samples say of the panels, and what 2,000 new ones do.

figure, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
ax.scatter(100 * found.losses, 100 * errors, s=18, alpha=0.7)
ax.axhline(100 * errors[0], color="0.5", ls="--", lw=1, label="the best panel")
ax.set(xlabel="Loss of class separation in %", ylabel="Error on new samples in %")
ax.legend(frameon=False)
plt.show()
