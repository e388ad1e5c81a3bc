"""
Spectra: wavelengths and bands that do as well
==============================================

Three filters are to tell three grades of a powder apart by near-infrared spectra. The catalogue may
not have the best three, two filters may need more room than there is, and detectors for long waves
are expensive. This page lists **all** sets that are nearly as good as the best one, also under
limits: no two filters of one band, a budget, and bands that are measured whole or not at all.

The spectra are simulated: broad overlapping bands, a baseline and a path length that differ from
sample to sample, and noise. Neighbouring wavelengths say nearly the same.
"""

# %%
# The spectra
# -----------
# The grades differ in a little more protein (bands at 1510 and 2055 nm) and in fat (1725 nm);
# moisture (1450 and 1940 nm) varies much more, and has nothing to do with the grade.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigensieve as es

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "grid.alpha": 0.3})
rng = np.random.default_rng(5)
wavelengths = np.arange(1100, 2300, 12)
grades = np.array(["fine", "medium", "coarse"])
PEAKS = {
    "protein": ((1510, 45, 0.20), (2055, 50, 0.35)),
    "fat": ((1725, 30, 0.30), (1210, 40, 0.12)),
    "moisture": ((1450, 60, 0.60), (1940, 55, 0.90)),
    "starch": ((1580, 70, 0.25), (2100, 65, 0.50)),
}


def draw_spectra(n):
    """Absorbances of n samples a grade, and the grades."""
    grade = np.repeat(np.arange(3), n)
    amount = {
        "protein": 1.0 + 0.12 * (grade == 1) + 0.035 * rng.normal(size=3 * n),
        "fat": 1.0 + 0.15 * (grade == 2) + 0.035 * rng.normal(size=3 * n),
        "moisture": 1.0 + 0.25 * rng.normal(size=3 * n),
        "starch": 1.0 + 0.10 * rng.normal(size=3 * n),
    }
    spectra = np.zeros((3 * n, wavelengths.size))
    for name, peaks in PEAKS.items():
        for centre, width, height in peaks:
            shape = height * np.exp(-0.5 * ((wavelengths - centre) / width) ** 2)
            spectra += amount[name][:, None] * shape
    path_length = 1.0 + 0.03 * rng.normal(size=(3 * n, 1))
    slope = (wavelengths - 1700) / 600 * 0.02 * rng.normal(size=(3 * n, 1))
    offset = 0.02 * rng.normal(size=(3 * n, 1))
    noise = 0.002 * rng.normal(size=spectra.shape)
    measured = path_length * spectra + slope + offset + noise
    return pd.DataFrame(measured, columns=wavelengths.astype(str)), grades[grade]


X, y = draw_spectra(40)
pencil = es.lda_pencil(X, y, shrinkage=0.1)
print(X.shape)


def tell(found):
    """A list of near-optimal sets, in a line."""
    best = ", ".join(found.name_of(j) for j in found.sets[0])
    complete = "all proved" if found.is_complete else "not complete"
    return f"best {best} nm, score {found.scores[0]:.3f}; {found.n_sets} sets ({complete})"


# %%
# All sets of three within five percent
# -------------------------------------
# The pencil holds the spread between the grades and within them; the shrinkage is little, as the
# wavelengths move together within a grade.

found = es.near_optimal(pencil, 3, within=0.05)
print(tell(found))
print(f"in all of them {len(found.core)}, in some {len(found.shared)}, in none {len(found.never)}")

# %%
# Wavelengths that take each other's place form runs of neighbours: one filter of each run will do,
# though not every combination is within five percent.

for group in found.exchange_groups:
    print(f"{len(group)} wavelengths:", ", ".join(found.name_of(j) for j in group))

# %%
# No two of one band
# ------------------
# Two of the best three are in the band of 120 nm that begins at 1700 nm. ``groups`` takes one label
# per wavelength (or a dict), ``at_most`` one number for all groups (or a dict).

starts = 1100 + 120 * ((wavelengths - 1100) // 120)
bands = [f"{start} to {start + 119} nm" for start in starts]
apart = es.near_optimal(pencil, 3, within=0.05, groups=bands, at_most=1)
print(tell(apart))

# %%
# A budget
# --------
# Up to 1700 nm a detector costs 1, beyond that 3. How much separation does a smaller budget cost,
# and how much choice does it leave? Each set is proved the best one for its budget.

costs = np.where(wavelengths <= 1700, 1.0, 3.0)
limited = {
    budget: es.near_optimal(pencil, 3, within=0.05, costs=costs, max_cost=budget)
    for budget in (3, 5, 7, 9)
}
for budget, those in limited.items():
    print(f"budget {budget}: {tell(those)}")

# %%
# Bands taken whole, or left
# --------------------------
# Another device measures all 10 wavelengths of a band, or none. These are all the ways to take two
# bands that are within ten percent of the best.

whole = es.near_optimal(pencil, 20, within=0.1, groups=bands, whole=True)
print(f"{whole.n_sets} choices; complete: {whole.is_complete}")
for members, loss in zip(whole.sets, whole.losses):
    print(f"{loss:.1%} less:", " and ".join(dict.fromkeys(bands[j] for j in members)))

# %%
# Later spectra
# -------------
# The estimators take the same limits as ``constraints=``, a dict. Three wavelengths err often, with
# limits or without; two whole bands measure more, and err less.

limits = {
    "no limit": (3, None),
    "no two of one band": (3, {"groups": bands, "at_most": 1}),
    "budget 7": (3, {"costs": costs, "max_cost": 7}),
    "two bands": (20, {"groups": bands, "whole": True}),
}
X_new, y_new = draw_spectra(200)
for name, (k, constraints) in limits.items():
    lda = es.SparseLDA(k, shrinkage=0.1, constraints=constraints).fit(X, y)
    proof = "proved the best" if lda.solution_.is_certified else f"gap {lda.solution_.gap:.1%}"
    print(f"{name}: {proof}, error {1 - lda.score(X_new, y_new):.1%}")

# %%
# Figures
# -------
# Above the means of the grades less that of all. Below in how many of the near-optimal sets each
# wavelength is: the width of a group of bars is the freedom to choose a filter.

figure, axes = plt.subplots(3, 1, figsize=(6, 6), sharex=True, layout="constrained")
for grade in grades:
    axes[0].plot(wavelengths, X[y == grade].mean() - X.mean(), label=grade)
axes[0].set_ylabel("Less the mean")
axes[0].legend(frameon=False, ncols=3)
for ax, those, title in zip(axes[1:], (found, apart), ("no limit", "no two of one band")):
    ax.bar(wavelengths, 100 * those.frequency, width=12)
    ax.set(ylabel="% of the sets", ylim=(0, 100))
    ax.set_title(f"{title}: {those.n_sets} sets", loc="left", size=9)
axes[2].set_xlabel("Wavelength in nm")
for start in np.unique(starts)[1:]:
    axes[2].axvline(start - 6, color="0.8", lw=0.8, zorder=0)

# %%
# What a budget costs: the best score, and how many sets are within five percent of it.

figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
scores = [those.scores[0] for those in limited.values()]
ax.plot(list(limited), scores, marker="o")
for (budget, those), score in zip(limited.items(), scores):
    ax.annotate(f"{those.n_sets} sets", (budget, score), (0, -14), textcoords="offset points")
ax.set(xlabel="Budget", ylabel="Class separation", xticks=list(limited), ylim=(0, None))
plt.show()
