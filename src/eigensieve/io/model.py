"""A linear model on disk: versioned JSON with the selected features only.

Loading runs no code (unlike pickle or joblib), every float64 survives bit for
bit, and a digest tells a damaged file from a good one.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from eigensieve.errors import InputError, ModelFileError

FORMAT = "eigensieve-model"
FORMAT_VERSION = 1
MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A discriminant on k named features; all it needs to work on new rows.

    Parameters
    ----------
    features : tuple of str
        The k feature names, in the order of the columns of ``X``.
    classes : tuple of str
        The K labels.
    coef : ndarray of shape (K, k)
        Coefficients on the standardised features.
    intercept : ndarray of shape (K,)
    center, scale : ndarray of shape (k,)
        Standardisation ``z = (x - center) / scale``; scale is positive.
    scalings : ndarray of shape (k, m)
        Projection of the standardised features.
    offset : ndarray of shape (m,)
        Subtracted from the projection, so that the training mean lies at 0.
    log2_floor : float or None
        If set, ``x`` becomes ``log2(max(x, log2_floor))`` before all else.
    info : dict
        Free metadata; JSON values only.
    """

    features: tuple[str, ...]
    classes: tuple[str, ...]
    coef: np.ndarray
    intercept: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    scalings: np.ndarray
    offset: np.ndarray
    log2_floor: float | None
    info: dict[str, Any]

    def __post_init__(self) -> None:
        for name, least in (("features", 1), ("classes", 2)):
            self._set(name, _names(name, getattr(self, name), least))
        for name, shape in _shapes(self.features, self.classes, np.size(self.offset)).items():
            self._set(name, _array(name, getattr(self, name), shape))
        if not np.all(self.scale > 0):
            raise InputError("scale must be positive in every entry; drop constant features first")
        if self.log2_floor is not None:
            self._set("log2_floor", float(_array("log2_floor", self.log2_floor, ())))
            if not self.log2_floor > 0:
                raise InputError(f"log2_floor is {self.log2_floor}; it must be positive, or None")
        self._set("info", _plain_info(self.info))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def from_discriminant(
        cls,
        estimator: Any,
        names: Sequence[str],
        center: np.ndarray,
        scale: np.ndarray,
        log2_floor: float | None,
        info: dict[str, Any],
    ) -> LinearModel:
        """Cut a fitted discriminant down to the features it selected.

        Parameters
        ----------
        estimator : object
            Fitted on standardised features; read by its attributes
            ``get_support``, ``classes_``, ``coef_``, ``intercept_``,
            ``scalings_`` and ``xbar_`` (scikit-learn's LDA conventions).
        names, center, scale : sequences of length p
            Names and standardisation of all features.
        log2_floor : float or None
        info : dict

        Returns
        -------
        LinearModel
        """
        if not hasattr(estimator, "coef_"):
            raise InputError(
                "the estimator has no coef_: a model file holds linear rules only "
                "(rule='centroid' or 'lda' for uncorrelated LDA)"
            )
        support = np.asarray(estimator.get_support(indices=True), dtype=np.intp)
        coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
        if np.any(np.delete(coef, support, axis=1)):
            raise InputError(
                "the estimator has non-zero coefficients outside get_support(); "
                "a model file can only hold the selected features"
            )
        if len(estimator.classes_) == 2 and len(coef) == 1:
            # Half the score to each side: softmax then equals the sigmoid of the score.
            coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
        scalings = np.asarray(estimator.scalings_)[support]
        return cls(
            features=tuple(str(names[j]) for j in support),
            classes=tuple(str(label) for label in estimator.classes_),
            coef=coef[:, support],
            intercept=intercept,
            center=np.asarray(center)[support],
            scale=np.asarray(scale)[support],
            scalings=scalings,
            offset=np.asarray(estimator.xbar_)[support] @ scalings,
            log2_floor=log2_floor,
            info=info,
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the content, as written in the file."""
        return _digest(_payload(self))

    def standardize(self, X: np.ndarray) -> np.ndarray:
        """Raw values (n, k) to the scale the coefficients live on."""
        X = np.asarray(X, dtype=np.float64)
        k = len(self.features)
        if X.ndim != 2 or X.shape[1] != k:
            raise InputError(
                f"X has shape {X.shape}; this model needs (n, {k}): "
                f"the columns {', '.join(self.features[:5])}{' ...' if k > 5 else ''}, in order"
            )
        if not np.isfinite(X).all():
            raise InputError("X has missing or infinite values; fill them or drop these rows first")
        if self.log2_floor is not None:
            X = np.log2(np.maximum(X, self.log2_floor))
        return (X - self.center) / self.scale

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Scores of shape (n, K); the largest one wins."""
        return self.standardize(X) @ self.coef.T + self.intercept

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Labels of shape (n,), as str."""
        return np.array(self.classes)[self.decision_function(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Class probabilities of shape (n, K)."""
        scores = self.decision_function(X)
        # The largest exponent becomes 0, so that exp cannot overflow.
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Discriminant coordinates of shape (n, m)."""
        return self.standardize(X) @ self.scalings - self.offset


def save_model(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write a model file; a crash leaves the old file or the new one, never half of one.

    Parameters
    ----------
    model : LinearModel
    path : path-like
        An existing file is replaced.

    Raises
    ------
    ModelFileError
        If the file cannot be written, or would be too large to load again.
    """
    path = Path(path)
    payload = _payload(model)
    document = {"format": FORMAT, "version": FORMAT_VERSION, "digest": _digest(payload)}
    data = (json.dumps(document | {"model": payload}, allow_nan=False) + "\n").encode("ascii")
    if len(data) > MAX_BYTES:
        raise ModelFileError(
            f"{path}: the model takes {len(data):,} bytes; at most {MAX_BYTES:,} are allowed: "
            "select fewer features or shorten info"
        )
    temporary = path.with_name(f".eigensieve-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)


def load_model(path: str | os.PathLike[str]) -> LinearModel:
    """Read a model file, and check it to the last digit.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    LinearModel

    Raises
    ------
    ModelFileError
        For any file that ``save_model`` did not write as it stands.
    """
    try:
        document = _parse(_read(path))
        payload = _open_envelope(document)
        return _from_payload(payload)
    except InputError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error


# ---------------------------------------------------------------- checks of the content


def _shapes(features: Sequence[str], classes: Sequence[str], m: int) -> dict[str, tuple[int, ...]]:
    k, n_classes = len(features), len(classes)
    return {
        "coef": (n_classes, k),
        "intercept": (n_classes,),
        "center": (k,),
        "scale": (k,),
        "scalings": (k, m),
        "offset": (m,),
    }


def _names(field: str, values: Sequence[str], least: int) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{field} must be a list of strings")
    if len(values) < least:
        raise InputError(f"{field} has {len(values)} entries; at least {least} needed")
    if len(set(values)) < len(values):
        twice = Counter(values).most_common(1)[0][0]
        raise InputError(f"{field} has {twice!r} more than once")
    return tuple(str(value) for value in values)


def _array(field: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{field} must hold numbers ({error})") from error
    if array.shape != shape or 0 in shape:
        raise InputError(f"{field} has shape {array.shape}; expected {shape}, none of them 0")
    if not np.isfinite(array).all():
        raise InputError(f"{field} has values that are not finite")
    array.setflags(write=False)
    return array


def _plain_info(info: dict[str, Any]) -> dict[str, Any]:
    """Send info through JSON now, so that a reloaded model has the very same dict."""
    if not isinstance(info, dict):
        raise InputError(f"info must be a dict, not {type(info).__name__}")
    try:
        return dict(_parse(json.dumps(info, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"info must hold finite JSON values only ({error})") from error


# ---------------------------------------------------------------- JSON


def _payload(model: LinearModel) -> dict[str, Any]:
    return {field.name: _to_json(getattr(model, field.name)) for field in fields(model)}


def _to_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _digest(payload: dict[str, Any]) -> str:
    canonical = json.dumps(
        payload, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return "sha256:" + hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _read(path: str | os.PathLike[str]) -> str:
    try:
        with open(path, "rb") as file:
            # Not by stat: a device or a pipe has no honest size.
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the model file cannot be read ({reason})") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES:,} bytes, so not an eigensieve model")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not a text file in UTF-8, so not a model ({error})") from error


def _parse(text: str) -> Any:
    """JSON without what Python's reader adds to it or lets pass."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            raise ValueError("an object has the same key twice")
        return result

    def constant(name: str) -> None:
        raise ValueError(f"{name} is not allowed")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except RecursionError as error:
        raise InputError("not valid JSON: nested too deeply") from error
    except ValueError as error:
        raise InputError(f"not valid JSON ({error}); the file may be cut off") from error


def _open_envelope(document: Any) -> dict[str, Any]:
    """Check format, version and digest; return what lies inside."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f'not an eigensieve model (no "format": "{FORMAT}")')
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"unknown format version {version!r:.40}; expected {FORMAT_VERSION}")
    if version > FORMAT_VERSION:
        raise InputError(f"written by a newer eigensieve (format {version}); upgrade eigensieve")
    payload = document.get("model")
    if set(document) != {"format", "version", "digest", "model"} or not isinstance(payload, dict):
        raise InputError("must have exactly: format, version, digest and model (an object)")
    try:
        expected = _digest(payload)
    except (ValueError, RecursionError) as error:
        raise InputError(f"holds values that no model has ({error})") from error
    if document["digest"] != expected:
        raise InputError(
            "the digest does not match the content: the file was damaged or edited; "
            "copy it again or fit the model again"
        )
    return payload


def _from_payload(payload: dict[str, Any]) -> LinearModel:
    known = {field.name for field in fields(LinearModel)}
    if set(payload) != known:
        odd = sorted(known ^ set(payload))
        raise InputError(f"fields missing or unknown: {', '.join(odd)[:200]}")
    for name in ("features", "classes", "offset"):
        if not isinstance(payload[name], list):
            raise InputError(f"{name} must be a list")
    shapes = _shapes(payload["features"], payload["classes"], len(payload["offset"]))
    if payload["log2_floor"] is not None:
        shapes["log2_floor"] = ()
    for name, shape in shapes.items():
        _check_numbers(name, payload[name], shape)
    return LinearModel(**payload)


def _check_numbers(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Nested lists of this shape; numpy alone would also take "1.5", true or null."""
    if not shape:
        if type(value) not in (int, float):
            raise InputError(f"{name} must hold numbers only, found {value!r:.40}")
    elif not isinstance(value, list) or len(value) != shape[0]:
        raise InputError(f"{name} does not have the shape that features and classes ask for")
    else:
        for item in value:
            _check_numbers(name, item, shape[1:])
