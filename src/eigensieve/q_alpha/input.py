"""What `eigensieve.qalpha` takes: M (features x samples), checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..tables.kinds.arrays import all_finite, check_device_table, is_device_array, to_device
from ..tables.kinds.frames import plain_frame
from ..tables.kinds.opening import as_big_table


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
        check_device_table(M, "M", "features x samples")
        return to_device(M, device).T
    M = M.tocsr() if sparse.issparse(M) else np.asanyarray(plain_frame(M, "M"))
    if M.ndim != 2 or 0 in M.shape:
        raise InputError(f"M has shape {M.shape}; it must be features x samples, none of them 0")
    if M.dtype.kind not in "biuf":
        raise InputError(f"M holds {M.dtype}; it must hold real numbers")
    mapped = None if sparse.issparse(M) else as_big_table(M.T)
    if mapped is None and not all_finite(M.data if sparse.issparse(M) else M):
        raise InputError("M contains NaN or infinity; impute or drop them first")
    if device is None:
        return M.T if mapped is None else mapped
    if mapped is not None or sparse.issparse(M):
        what = "sparse" if mapped is None else "mapped from a file"
        raise InputError(f"M is {what}; device={device!r} is for arrays in memory: leave it out")
    return to_device(np.asarray(M.T), device)
