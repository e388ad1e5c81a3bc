"""Model files that went wrong: damaged on the way, or edited by a hand that fits the digest."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Json = Any
HUGE = "@huge@"  # stands for a number that only raw text can hold


def digest(model: Json) -> str:
    """The digest as the format defines it, by other code than that of the package."""
    text = json.dumps(model, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def content(data: bytes) -> str | None:
    """What a file says, whatever its layout; None if it is no JSON, or says it twice."""

    def ordered(pairs: list[tuple[str, Json]]) -> Json:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("twice")
        return sorted(pairs, key=lambda pair: pair[0])

    try:
        return json.dumps(json.loads(data.decode("utf-8"), object_pairs_hook=ordered))
    except ValueError:
        return None


# ---------------------------------------------------------------- damage


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """One accident: bytes set, flipped, put in, taken out, repeated, cut off, or digits swapped."""
    i, j = sorted(int(x) for x in rng.integers(0, len(data), size=2))
    byte = bytes([rng.integers(256)])
    kinds: list[Callable[[], bytes]] = [
        lambda: data[:i] + byte + data[i + 1 :],
        lambda: data[:i] + bytes([data[i] ^ 1 << rng.integers(8)]) + data[i + 1 :],
        lambda: data[:i] + byte + data[i:],
        lambda: data[:i] + data[i + 1 :],
        lambda: data[:i] + data[j:],
        lambda: data[:j] + data[i:],
        lambda: data[:i],
        lambda: _swap_digits(data, rng),
        lambda: data[:i] + _piece(rng) + data[i:],
        lambda: data[:i] + _piece(rng) + data[i + 1 :],
    ]
    return kinds[rng.integers(len(kinds))]()


def _swap_digits(data: bytes, rng: np.random.Generator) -> bytes:
    digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
    i, j = rng.choice(digits, size=2, replace=False)
    swapped = bytearray(data)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return bytes(swapped)


def _piece(rng: np.random.Generator) -> bytes:
    pieces = [b'"', b"{", b"[", b"NaN", b"1e999", b"9" * 500, b"\xff", b"\\ud800", b"null", b"-",
              b" ", b"\n\t", b"0", b",", b"}", b"\0", b"e5", b"\xef\xbb\xbf"]  # fmt: skip
    return pieces[rng.integers(len(pieces))]


# ---------------------------------------------------------------- forgery


def forgeries(document: Json) -> Iterator[bytes]:
    """Files with a digest that fits, none of which holds a model."""
    for path, value in _places(document["model"]):
        for wrong in _wrong_values(path, value):
            yield _sealed(document, _with(document["model"], path, wrong))
    text = json.dumps(document)
    for name in document["model"]:
        if name not in ("fill", "temperature"):  # without it, it is another model
            yield _sealed(document, {k: v for k, v in document["model"].items() if k != name})
        yield text.replace(f'"{name}": ', f'"{name}": 0, "{name}": ', 1).encode()
    for name in ("extra", "Coef", "", "__class__", "fill "):
        yield _sealed(document, document["model"] | {name: 1.0})
    if document["version"] == 1:
        yield _sealed(document, document["model"] | {"fill": document["model"]["center"]})
    if document["version"] < 3:
        yield _sealed(document, document["model"] | {"temperature": 2.0})
    if document["version"] < 4:
        yield _sealed(document, document["model"] | {"classes": [0, 1, 2]})
    yield _sealed(document, document["model"] | {"temperature": 1.0})  # that is left out
    yield from _wrong_envelopes(document)


def _places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Every value inside, whole fields and single numbers; of info only the whole."""
    if path:
        yield path, value
    if path == ("info",) or not isinstance(value, list | dict):
        return
    for key in value if isinstance(value, dict) else range(len(value)):
        yield from _places(value[key], (*path, key))


def _wrong_values(path: tuple[Any, ...], value: Json) -> list[Json]:
    numbers_and_words = [True, False, -1, 0.5, "", "abc", "\ud800", 10**400]
    if path == ("info",):
        return [None, [], [["a", 1]], *numbers_and_words, {"a": np.nan}, {"a": [HUGE]}]
    if isinstance(value, list):
        return [
            None,
            *numbers_and_words,
            {},
            {str(i): item for i, item in enumerate(value)},
            [],
            value[:-1],
            [*value, value[-1]],
            [value],
            [[item] for item in value],
            [None] * len(value),
        ]
    if isinstance(value, str):
        return [None, True, 0, 1.5, [], [value], {}, {value: value}, np.nan]
    wrong: list[Json] = [True, False, "", str(value), "1.5", "nan", [], [value], [1.0], {}]
    wrong += [{"a": 1.0}, 10**400, -(10**309), np.nan, np.inf, -np.inf, HUGE]
    if path != ("log2_floor",):
        wrong.append(None)
    if path[0] in ("scale", "log2_floor", "temperature"):
        wrong += [0, 0.0, -0.0, -1, -5e-324]
    return wrong


def _with(model: Json, path: tuple[Any, ...], value: Json) -> Json:
    changed = copy.deepcopy(model)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def _sealed(document: Json, model: Json) -> bytes:
    text = json.dumps(document | {"digest": digest(model), "model": model})
    return text.replace(f'"{HUGE}"', "1e999").encode()


def _wrong_envelopes(document: Json) -> Iterator[bytes]:
    good = document["digest"]
    changes: dict[str, list[Json]] = {
        "version": [0, 5, -1, "1", "2", True, 1.0, 2.0, None, [2], {}, 10**30, np.nan],
        "format": ["", "eigensieve", "Eigensieve-model", None, 1, True, ["eigensieve-model"]],
        "digest": [None, "", "sha256:", good.upper(), good[7:], good[:-1], good + "0", [good], 0],
        "model": [None, [], "", 1, True, [document["model"]], json.dumps(document["model"])],
    }
    for name, values in changes.items():
        for value in values:
            yield json.dumps(document | {name: value}).encode()
        yield json.dumps({k: v for k, v in document.items() if k != name}).encode()
        yield json.dumps(document | {name + "_": 1}).encode()
        text = json.dumps(document)
        yield text.replace(f'"{name}": ', f'"{name}": null, "{name}": ', 1).encode()
    for deep in ("[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000):
        for name in ("info", "coef", "log2_floor"):
            model = document["model"] | {name: HUGE}
            yield json.dumps(document | {"model": model}).replace(f'"{HUGE}"', deep).encode()


# ---------------------------------------------------------------- the same content


def rewritten(data: bytes, rng: np.random.Generator) -> bytes:
    """Another layout of the same content: blanks, the order of the keys, escapes."""
    document = json.loads(data)

    def shuffled(value: Json) -> Json:
        if isinstance(value, list):
            return [shuffled(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {key: shuffled(value[key]) for key in rng.permutation(list(value)).tolist()}

    text = json.dumps(
        shuffled(document),
        indent=[None, 0, 1, "\t"][rng.integers(4)],
        ensure_ascii=bool(rng.integers(2)),
    )
    blanks = "".join(rng.choice(list(" \t\r\n"), size=rng.integers(1, 6)))
    return (blanks + text.replace(", ", "," + blanks) + blanks).encode("utf-8")
