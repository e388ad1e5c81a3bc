"""
A certificate: is this list of features any good?
=================================================

Somebody hands over a list of features: a ranking, a lasso, a table in a paper. How much better
could **any** list of the same length be? A certificate answers that, for a stated criterion, on the
samples at hand, with a proof. What it does not say is how well the list predicts.

The data are real: 569 tumours, 30 measurements (scikit-learn's breast cancer table).
"""

# %%
# Three lists of five
# -------------------
# The five largest F values, the five largest weights of a full LDA, and a greedy search.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif
from sklearn.model_selection import train_test_split

import eigensieve as es
from eigensieve.plots import GapDisplay, LoadingsDisplay

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "grid.alpha": 0.3})
data = load_breast_cancer(as_frame=True)
label = np.array(data.target_names)[data.target]
parts = train_test_split(data.data, label, test_size=0.3, random_state=0, stratify=label)
X, X_new, y, y_new = parts
Z, Z_new = (((part - X.mean()) / X.std(ddof=0)).to_numpy() for part in (X, X_new))
pencil = es.lda_pencil(Z, y, shrinkage=0.1)
names = list(X.columns)

full = LinearDiscriminantAnalysis().fit(Z, y).coef_[0]
lists = {
    "largest F": np.argsort(-f_classif(Z, y)[0])[:5],
    "largest weights": np.argsort(-np.abs(full))[:5],
    "greedy": es.solve(pencil, 5, "greedy").support,
}
for name, chosen in lists.items():
    print(f"{name}: {', '.join(names[j] for j in sorted(chosen))}")

# %%
# What is proved of each
# ----------------------

claims = {
    name: es.certify(pencil, chosen, criterion="logdet", time_limit=60)
    for name, chosen in lists.items()
}
for name, claim in claims.items():
    print(f"{name}: {claim.explain('measurements', names=names)}")

# %%
# A gap can be taken apart: ``objective`` is the list's own score, ``bound`` what no list of five
# can exceed, ``gap`` the distance. ``verify`` computes the score again with other code, and raises
# if anything is off.

for name, claim in claims.items():
    claim.verify(pencil)
    print(f"{name:16} {claim.objective:.4f} of at most {claim.bound:.4f}, {claim.status.value}")

# %%
# What a gap is not
# -----------------
# The score is the separation of these samples. A list may score less and err about as often: here
# is the error of the three on the tumours that were kept back, with the same classifier. A
# difference of one or two tumours means nothing.

for name, chosen in lists.items():
    model = es.SparseLDA(5, include=list(chosen), shrinkage=0.1).fit(Z, y)
    print(f"{name:16} {np.sum(model.predict(Z_new) != y_new)} of {len(y_new)} tumours wrong")
study = es.study(X, y, es.SparseLDA(shrinkage=0.1), k=5, ks=(5,), n_repeats=1)
error = study.honest_error
print(f"cross-validated, greedy: {error.error:.1%} ({error.low:.1%} to {error.high:.1%})")

# %%
# A bound for every k
# -------------------
# The greedy path, the bound that comes with it at little cost, and the proved optimum of each k.

ks = list(range(1, 11))
greedy = [es.solve(pencil, k, "greedy") for k in ks]
quick = [es.certify(pencil, g.support, time_limit=0).bound for g in greedy]
exact = [es.solve(pencil, k, "exact", criterion="logdet") for k in ks]
best = [e.is_certified and e.objective <= g.objective * (1 + 1e-6) for g, e in zip(greedy, exact)]
print("the greedy set is proved the best for k =", [k for k, proved in zip(ks, best) if proved])
print(f"{sum(e.n_nodes for e in exact):,} nodes searched for all ten proofs")

figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
GapDisplay(ks, [g.objective for g in greedy], quick, optimal=best).plot(ax)

# %%
# The five measurements of the proved set, with their loadings.

figure, ax = plt.subplots(figsize=(5.5, 2.4), layout="constrained")
final = es.SparseLDA(5, solver="exact", shrinkage=0.1).fit(Z, y)
LoadingsDisplay.from_estimator(final, names).plot(ax)
plt.show()
