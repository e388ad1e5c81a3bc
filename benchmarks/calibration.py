"""Are the probabilities of a study's model right on samples that the study never saw?

``python -m benchmarks.calibration [--splits 6]``, with EIGENSIEVE_DATA set. Every table is split
into halves; a study of one (k from 2, 5 and 10) predicts the other. Prints the mean log-loss with
temperature 1, with a temperature that counts no mistake but those seen, half a mistake more (the
package's), and a whole one; the number of wrong predictions, and how many had a probability above
.999. The half mistake was chosen on the first group of tables; the second had no part in it.
(Half of brain or nakayama has too few samples of a class for a study.)
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import eigensieve as es
from benchmarks.data import load_open_set
from eigensieve.experiments.data import half_split
from eigensieve.studies.calibration import fit_temperature, log_loss, tempered

TOYS = {"wine": load_wine, "iris": load_iris, "breast_cancer": load_breast_cancer}
GENES = ("leukemia", "srbct", "srbct83", "prostate", "lymphoma", "dlbcl_fl")
CHOSEN_ON = (*TOYS, "sonar", *GENES)
OTHERS = ("colon", "ramaswamy_filtered", "breast", "brain_outcome", "ionosphere")
MISTAKES = (0.0, 0.5, 1.0)
SURE = 0.999


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of a table."""
    return TOYS[name](return_X_y=True) if name in TOYS else load_open_set(name)


def measure(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[list[float], np.ndarray]:
    """Log-losses of one split by temperature, and the probabilities of wrong predictions."""
    train, test = half_split(y, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with few samples
        study = es.study(X[train], y[train], ks=(2, 5, 10), n_repeats=1, random_state=seed)
    seen = study.calibration.before
    temperatures = [1.0, *(fit_temperature(seen.log_proba, seen.code, m) for m in MISTAKES)]
    model = study.final_estimator
    code = np.searchsorted(model.classes_, y[test])
    # as they would be with temperature 1; dividing logarithms by T gives those of T
    plain = model.predict_log_proba(X[test]) * study.calibration.temperature
    tables = [tempered(plain, T) for T in temperatures]
    wrong = tables[0].argmax(axis=1) != code
    return (
        [log_loss(table, code) for table in tables],
        np.array([np.exp(table[wrong].max(axis=1)) for table in tables]),
    )


def report(title: str, names: tuple[str, ...], n_splits: int) -> None:
    """A line for every table, and their means."""
    print(f"\n{title}\n{'':<20}log-loss: none  seen   +half  +whole   wrong, of these above {SURE}")
    all_losses, all_sure, n_wrong = [], np.zeros(4, dtype=int), 0
    for name in names:
        results = [measure(*load(name), seed) for seed in range(n_splits)]
        losses = np.mean([loss for loss, _ in results], axis=0)
        proba = np.hstack([wrong for _, wrong in results])
        sure = (proba > SURE).sum(axis=1)
        shown = "  ".join(f"{loss:5.3f}" for loss in losses)
        print(f"{name:<20}          {shown}   {proba.shape[1]:5d}  {sure.tolist()}", flush=True)
        all_losses.append(losses)
        all_sure, n_wrong = all_sure + sure, n_wrong + proba.shape[1]
    shown = "  ".join(f"{loss:5.3f}" for loss in np.mean(all_losses, axis=0))
    print(f"{'mean, sum':<20}          {shown}   {n_wrong:5d}  {all_sure.tolist()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=6)
    n_splits = parser.parse_args().splits
    print(f"{n_splits} half/half splits a table")
    report("tables on which the half mistake was chosen", CHOSEN_ON, n_splits)
    report("other tables", OTHERS, n_splits)


if __name__ == "__main__":
    main()
