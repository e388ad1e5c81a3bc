"""
Text: the words that tell topics apart
======================================

Which few words tell what a page of documentation is about? The texts are real: the docstrings of
five modules of SciPy, as installed here. A word count is a sparse table with more columns than
rows; it stays sparse all the way.

The texts, hence the figures, depend a little on the version of SciPy.
"""

# %%
# The table
# ---------
# One row a function or class, one column a word. Names of modules and of the function itself would
# be too easy: words of the paths are left out.

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import eigensieve as es
from eigensieve.plots import CorrelationCircleDisplay, CVPathDisplay

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "grid.alpha": 0.3})
TOPICS = ("linalg", "ndimage", "optimize", "signal", "stats")


def docstrings(topic):
    """Name and docstring of everything public in a module, without examples and references."""
    module = importlib.import_module(f"scipy.{topic}")
    for name in sorted(module.__all__):
        thing = getattr(module, name)
        text = inspect.getdoc(thing) if callable(thing) else None
        if text and len(text) > 300:
            text = re.split(r"\n(?:Examples|References|See Also)\n-+", text)[0]
            yield name, text.replace(name, " ")


rows = pd.DataFrame(
    [(topic, name, text) for topic in TOPICS for name, text in docstrings(topic)],
    columns=["topic", "name", "text"],
)
train = rows.groupby("topic").sample(45, random_state=0).sort_index()
later = rows.drop(train.index)

counter = CountVectorizer(token_pattern=r"[a-z]{3,}", min_df=4, stop_words=["scipy", *TOPICS])
X = sparse.csr_matrix(counter.fit_transform(train["text"]), dtype=float).log1p()
words, y = counter.get_feature_names_out(), train["topic"].to_numpy()
print(X.shape, f"{X.nnz / np.prod(X.shape):.0%} of the cells are filled")
print(len(later), "texts are left for later")

# %%
# How few words?
# --------------
# The study estimates the error of the whole recipe on texts that it has not seen.

study = es.study(X, y, ks=(5, 10, 20, 30), names=words, n_repeats=1)
error = study.honest_error
print(study.table[["k", "error", "se"]].to_string(index=False, float_format="%.3f"))
print(f"k = {study.best_k}: nested error {error.error:.1%} ({error.low:.1%} to {error.high:.1%})")

# %%
# The words
# ---------
# The heaviest first, each with the topic whose texts have it most.

means = pd.DataFrame(X.toarray(), columns=words).groupby(y).mean()
for topic in TOPICS:
    own = [f.name for f in study.selected if means[f.name].idxmax() == topic]
    print(f"{topic:9}", ", ".join(own))

print(f"{study.claim}: proved")

# %%
# Stability: words are rarely alone in what they say
# --------------------------------------------------
# The index is 1 where all training parts choose the same words and about 0 for chance.

print(study.stability_index.to_string(index=False, float_format="%.2f"))

# %%
# Texts that were left for later
# ------------------------------
# They are not shared alike among the topics, as the training texts are: the balanced error counts
# every topic alike.

X_later = sparse.csr_matrix(counter.transform(later["text"]), dtype=float).log1p()
predicted = study.predict(X_later)
wrong = predicted != later["topic"].to_numpy()
balanced = pd.Series(wrong).groupby(later["topic"].to_numpy()).mean().mean()
print(f"error {wrong.mean():.1%}, balanced {balanced:.1%}, of {len(later)} texts")
print("taken for another topic:", ", ".join(later["name"].to_numpy()[wrong][:8]))

# %%
# Figures
# -------

figure, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
CVPathDisplay.from_study(study).plot(ax)

# %%
# Which words go with the first two of the four directions.

figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
CorrelationCircleDisplay.from_study(study).plot(ax)
plt.show()
