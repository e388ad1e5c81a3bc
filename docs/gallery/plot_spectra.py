"""
Spectra: five wavelengths for a cheap instrument
================================================

A laboratory tells three grades of a powder by near-infrared spectra of 150 wavelengths. For the
production line a device with a few fixed filters is to be built. Which wavelengths, how many, and
how often will it be wrong?

The spectra are simulated: broad overlapping bands, a baseline and a path length that differ from
sample to sample, and noise. Neighbouring wavelengths say nearly the same, so many sets are nearly
as good as the best one. That is where a certificate and stand-ins are of use.
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
from eigensieve.plots import CVPathDisplay, ProjectionDisplay

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "grid.alpha": 0.3})
rng = np.random.default_rng(5)
wavelengths = np.arange(1100, 2300, 8)
grades = np.array(["fine", "medium", "coarse"])
BANDS = {
    "protein": ((1510, 45, 0.20), (2055, 50, 0.35)),
    "fat": ((1725, 30, 0.30), (1210, 40, 0.12)),
    "moisture": ((1450, 60, 0.60), (1940, 55, 0.90)),
    "starch": ((1580, 70, 0.25), (2100, 65, 0.50)),
}


def draw_spectra(n):
    """Absorbances of n samples a grade, as a data frame, and the grades."""
    grade = np.repeat(np.arange(3), n)
    amount = {
        "protein": 1.0 + 0.12 * (grade == 1) + 0.035 * rng.normal(size=3 * n),
        "fat": 1.0 + 0.15 * (grade == 2) + 0.035 * rng.normal(size=3 * n),
        "moisture": 1.0 + 0.25 * rng.normal(size=3 * n),
        "starch": 1.0 + 0.10 * rng.normal(size=3 * n),
    }
    spectra = np.zeros((3 * n, wavelengths.size))
    for name, bands in BANDS.items():
        for centre, width, height in bands:
            shape = height * np.exp(-0.5 * ((wavelengths - centre) / width) ** 2)
            spectra += amount[name][:, None] * shape
    path_length = 1.0 + 0.03 * rng.normal(size=(3 * n, 1))
    slope = (wavelengths - 1700) / 600 * 0.02 * rng.normal(size=(3 * n, 1))
    offset = 0.02 * rng.normal(size=(3 * n, 1))
    noise = 0.002 * rng.normal(size=spectra.shape)
    measured = path_length * spectra + slope + offset + noise
    return pd.DataFrame(measured, columns=wavelengths.astype(str)), grades[grade]


X, y = draw_spectra(40)
X_new, y_new = draw_spectra(200)
print(X.shape, "training spectra;", X_new.shape, "later ones")

# %%
# How few wavelengths?
# --------------------
# The wavelengths of a spectrum move together **within** a grade: moisture and path length shift all
# of them. A good set cancels that, so little shrinkage of the within-grade correlations may be
# better than the automatic choice. The study tries both, and decides inside the folds.

settings = {"little shrinkage": es.SparseLDA(shrinkage=0.02), "automatic": es.SparseLDA()}
study = es.study(X, y, settings, ks=(1, 2, 3, 5, 7), n_repeats=1)
print(study.table[["k", "error", "se", "setting"]].to_string(index=False, float_format="%.3f"))

error = study.honest_error
print(f"k = {study.best_k}, {study.setting}")
print(f"nested error {error.error:.1%} ({error.low:.1%} to {error.high:.1%})")

# %%
# The wavelengths, and what else would do
# ---------------------------------------
# A filter may not be on sale. ``prices`` names the nearest stand-ins, and what each would cost.

for price in study.prices:
    others = ", ".join(f"{other.name} ({other.loss:.1%})" for other in price.stand_ins)
    print(f"{price.name} nm: without it {price.loss:.1%} less separation; stand-ins {others}")

# %%
# Is there a better set?
# ----------------------
# ``certify`` asks that of all sets of as many wavelengths, on the columns as the study scaled them.
# The answer is a sentence: a better set by name, a limit, or a proof that there is none.

Z = (X - X.mean()) / X.std(ddof=0)
chosen = study.final_estimator.get_support(indices=True)
pencil = es.lda_pencil(Z.to_numpy(), y, shrinkage=study.final_estimator.estimator_.shrinkage_)
claim = es.certify(pencil, chosen, criterion="logdet", time_limit=60)
print(f"{claim.n_nodes} nodes searched")
print(claim.explain("wavelengths", names=list(X.columns)))

# %%
# Later samples
# -------------

predicted = study.predict(X_new)
print(f"error on {len(y_new)} later spectra: {np.mean(predicted != y_new):.1%}")
print(pd.crosstab(y_new, predicted, rownames=["grade"], colnames=["predicted"]))

# %%
# Figures
# -------
# Above every sixth spectrum, below the means of the grades less that of all: they differ by far
# less than single samples do. The dotted lines are the filters.

figure, (above, below) = plt.subplots(2, 1, figsize=(6, 4.8), sharex=True, layout="constrained")
above.plot(wavelengths, X.to_numpy()[::6].T, color="0.6", lw=0.5)
above.set_ylabel("Absorbance")
for grade in grades:
    below.plot(wavelengths, X[y == grade].mean() - X.mean(), label=grade)
for ax in (above, below):
    for j in chosen:
        ax.axvline(wavelengths[j], color="k", lw=1, ls=":")
below.set(xlabel="Wavelength in nm", ylabel="Mean less overall mean")
below.legend(frameon=False, ncols=3)

# %%
# The error against the number of wavelengths, and the later spectra on the two directions.

figure, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
CVPathDisplay.from_study(study).plot(ax)

# %%

figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
ProjectionDisplay.from_estimator(study.final_estimator, X_new, y_new).plot(ax)
plt.show()
