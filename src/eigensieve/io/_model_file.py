"""The envelope of a model file: strict JSON with a version and a digest."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from eigensieve.errors import InputError, ModelFileError

from .replacing import replace_file

FORMAT = "eigensieve-model"
# 1: no fill. 2: fill, if the model has one. 3: temperature, if it is not 1. 4: classes may be
# numbers.
FORMAT_VERSION = 4
MAX_BYTES = 64 * 2**20


def write_payload(payload: dict[str, Any], path: Path) -> None:
    """Write the content under its digest; the old file is replaced in one step or not at all."""
    document = {"format": FORMAT, "version": FORMAT_VERSION, "digest": digest_of(payload)}
    data = (json.dumps(document | {"model": payload}, allow_nan=False) + "\n").encode("ascii")
    if len(data) > MAX_BYTES:
        raise ModelFileError(
            f"{path}: the model takes {len(data):,} bytes; at most {MAX_BYTES:,} are allowed: "
            "select fewer features or shorten info"
        )
    try:
        replace_file(path, data)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written ({error.strerror or error})") from error


def read_payload(path: str | os.PathLike[str]) -> tuple[int, dict[str, Any]]:
    """The version of a file, and its content; InputError if they are not as they were written."""
    return _open_envelope(parse_json(_read(path)))


def digest_of(payload: dict[str, Any]) -> str:
    """SHA-256 of the content, whatever its layout in the file."""
    canonical = json.dumps(
        payload, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return "sha256:" + hashlib.sha256(canonical.encode("ascii")).hexdigest()


def parse_json(text: str) -> Any:
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
        raise InputError(
            f"not valid JSON ({error}), so no model file, or one that is cut off; "
            "'eigensieve fit' writes model.json"
        ) from error


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


def _open_envelope(document: Any) -> tuple[int, dict[str, Any]]:
    """Check format, version and digest; return the version and what lies inside."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f'not an eigensieve model (no "format": "{FORMAT}")')
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"unknown format version {version!r:.40}; expected 1 to {FORMAT_VERSION}")
    if version > FORMAT_VERSION:
        raise InputError(
            f"written by a newer eigensieve (format {version!r:.40}); upgrade eigensieve"
        )
    payload = document.get("model")
    if set(document) != {"format", "version", "digest", "model"} or not isinstance(payload, dict):
        raise InputError("must have exactly: format, version, digest and model (an object)")
    try:
        expected = digest_of(payload)
    except (ValueError, RecursionError) as error:
        raise InputError(f"holds values that no model has ({error})") from error
    if document["digest"] != expected:
        raise InputError(
            "the digest does not match the content: the file was damaged or edited; "
            "copy it again or fit the model again"
        )
    return version, payload
