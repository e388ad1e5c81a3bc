"""What `eigensieve.qalpha` takes: M (features x samples), checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..backends.arrays import is_device_array, namespace, to_device
from ..backends.opening import as_big_table
from ..errors import InputError


def take_transposed(M: Any, device: Any = None) -> Any:
    """The table X = M' (samples x features): an array, sparse, mapped, or on a device."""
    if np.ma.isMaskedArray(M):
        raise InputError("M is a masked array; fill in or drop what is masked first")
    if not isinstance(M, np.ndarray) and as_big_table(M) is not None:
        raise InputError(
            f"M is a {type(M).__name__}; qalpha takes features x samples in memory, or mapped by "
            "numpy. QAlphaSelector.fit takes it as samples x features"
        )
    if is_device_array(M):
        _check_device_array(M)
        return to_device(M, device).T
    M = M.tocsr() if sparse.issparse(M) else np.asanyarray(M)
    if M.ndim != 2 or 0 in M.shape:
        raise InputError(f"M has shape {M.shape}; it must be features x samples, none of them 0")
    if M.dtype.kind not in "biuf":
        raise InputError(f"M holds {M.dtype}; it must hold real numbers")
    mapped = None if sparse.issparse(M) else as_big_table(M.T)
    if mapped is None:
        _check_finite(M.data if sparse.issparse(M) else M)
    if device is None:
        return M.T if mapped is None else mapped
    if mapped is not None or sparse.issparse(M):
        what = "sparse" if mapped is None else "mapped from a file"
        raise InputError(f"M is {what}; device={device!r} is for arrays in memory: leave it out")
    return to_device(np.asarray(M.T), device)


def _check_finite(stored: np.ndarray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(stored, dtype=np.float64)
    if not np.isfinite(total) and not np.isfinite(stored).all():
        raise InputError("M has missing or infinite entries; drop or impute them first")


def _check_device_array(M: Any) -> None:
    xp = namespace(M)
    if M.ndim != 2 or 0 in M.shape:
        shape = tuple(M.shape)
        raise InputError(f"M has shape {shape}; it must be features x samples, none of them 0")
    if not xp.isdtype(M.dtype, ("real floating", "integral", "bool")):
        raise InputError(f"M holds {M.dtype}; it must hold real numbers")
    if not xp.isdtype(M.dtype, "real floating"):
        return
    if not bool(xp.isfinite(xp.sum(M))) and not bool(xp.all(xp.isfinite(M))):
        raise InputError("M has missing or infinite entries; drop or impute them first")
