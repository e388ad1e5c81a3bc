"""Arrays on a device (torch, cupy): what they are, and the functions that serve them.

Code that is written for ``namespace(X)`` runs on numpy arrays as well as on a GPU. numpy's own
functions are used for numpy arrays: nothing has to be installed for them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtraError, OptionError

PLACES = "it must be 'cuda', 'cuda:1' or 'cpu'"
DEVICE_ARRAYS = {("torch", "Tensor"), ("cupy", "ndarray"), ("array_api_strict", "Array")}


def is_device_array(X: Any) -> bool:
    """Whether X is an array of torch or cupy (or of array-api-strict, for tests)."""
    return type(X) is not np.ndarray and any(
        (kind.__module__.partition(".")[0], kind.__name__) in DEVICE_ARRAYS
        for kind in type(X).__mro__
    )


def namespace(*arrays: Any) -> Any:
    """The module whose functions work on these arrays: numpy, or that of array-api-compat."""
    others = [x for x in arrays if is_device_array(x)]
    if not others:
        return np
    return _import("array_api_compat", "array-api-compat").array_namespace(*others)


def to_numpy(X: Any) -> np.ndarray:
    """The array in the memory of the host."""
    if not is_device_array(X):
        return np.asarray(X)
    if hasattr(X, "detach"):  # torch
        here = X.detach().cpu()
        # numpy has no such type
        return np.asarray((here.float() if "bfloat16" in str(here.dtype) else here).numpy())
    if hasattr(X, "get"):  # cupy
        return np.asarray(X.get())
    return np.asarray(X)


def to_device(X: Any, device: Any) -> Any:
    """The array on a device: "cuda", "cuda:1", "cpu", as torch calls them; None leaves it."""
    if device is None:
        return X
    if type(X).__module__.partition(".")[0] == "cupy":
        raise InputError("X is a cupy array, and lies on its device already: leave device out")
    torch = _import("torch", "torch")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise OptionError(f"device is {device!r}; {PLACES}") from error
    _check_place(place, torch)
    table = X if is_device_array(X) else torch.from_numpy(np.require(X, requirements=["C", "W"]))
    return table.to(place)


def like(values: Any, model: Any, dtype: Any = None) -> Any:
    """Values of the host as an array where ``model`` lies; numpy stays numpy."""
    xp = namespace(model)
    array = np.asarray(values, dtype=dtype)
    if xp is np:
        return array
    if not array.flags.writeable:  # torch warns of those
        array = array.copy()
    return xp.asarray(array, device=_device_of(model))


def scatter(values: Any, index: np.ndarray, new: np.ndarray) -> None:
    """values[index] = new, for a vector anywhere, and an index and new values of the host."""
    if type(values).__module__.partition(".")[0] == "array_api_strict":
        for j, value in zip(index.tolist(), new.tolist()):  # the standard knows no other way
            values[j] = value
    else:
        values[like(index, values)] = like(new, values)


def largest_values(values: Any, count: int) -> np.ndarray:
    """The ``count`` largest of a vector anywhere, in any order, on the host."""
    xp, first = namespace(values), values.shape[0] - count
    if hasattr(values, "topk"):  # torch
        return to_numpy(values.topk(count, sorted=False).values)
    if xp is np:
        return np.partition(values, first)[first:] if count else values[:0]
    return to_numpy(xp.sort(values)[first:])


def all_finite(x: Any) -> bool:
    """Whether no number of an array anywhere is NaN or infinite."""
    xp = namespace(x)
    # a sum is quicker than looking at every number, and finite if they all are (nearly)
    with np.errstate(over="ignore", invalid="ignore"):
        total = xp.sum(x, dtype=np.float64) if xp is np else xp.sum(x)
    return bool(xp.isfinite(total)) or bool(xp.all(xp.isfinite(x)))


def check_device_table(X: Any, name: str, axes: str) -> None:
    """Raise unless a device array is a table of finite real numbers with rows and columns.

    ``name`` ("X") and ``axes`` ("samples x features") are for the messages.
    """
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise InputError(
            f"{name} is a sparse tensor; give a scipy.sparse matrix, or {name}.to_dense()"
        )
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"{name} has shape {tuple(X.shape)}; it must be {axes}, none of them 0")
    xp = namespace(X)
    if not xp.isdtype(X.dtype, ("real floating", "integral", "bool")):
        raise InputError(f"{name} holds {X.dtype}; it must hold real numbers")
    if xp.isdtype(X.dtype, "real floating") and not all_finite(X):
        raise InputError(f"{name} contains NaN or infinity; impute or drop them first")


def _check_place(place: Any, torch: Any) -> None:
    if place.type not in ("cpu", "cuda"):
        raise OptionError(f"device is {str(place)!r}; {PLACES}")
    if place.type == "cpu":
        return
    if not torch.cuda.is_available():
        raise OptionError(
            f"device is {str(place)!r}, but torch finds no such device on this machine: leave "
            "device out, or install torch with CUDA (https://pytorch.org)"
        )
    if (place.index or 0) >= torch.cuda.device_count():
        raise OptionError(
            f"device is {str(place)!r}, but there are {torch.cuda.device_count()} on this machine, "
            "counted from 'cuda:0'"
        )


def _device_of(model: Any) -> Any:
    return _import("array_api_compat", "array-api-compat").device(model)


def _import(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, "gpu") from None
