"""What can be chosen about Q-alpha, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import OptionError
from ..pencil.checks import check_choice, check_k, check_number
from .kernels import BIGGEST, FeatureKernel
from .leading import EIGENSOLVERS
from .variants.supervised import Blocks

# gap and supervised are indefinite: a power step could go to the wrong end of the spectrum
ALLOWED = {
    "standard": ("lanczos", "gram", "single-step"),
    "basic": ("lanczos", "gram", "single-step"),
    "laplacian": ("lanczos", "gram", "single-step"),
    "ritz": ("lanczos", "gram"),
    "gap": ("lanczos",),
    "supervised": ("lanczos",),
}
DEFAULT_GAMMA = 0.5
WITH_KERNEL = ("lanczos", "single-step")
VARIANTS = tuple(ALLOWED)


@dataclass(frozen=True)
class QAlphaOptions:
    """The options of `eigensieve.qalpha`, whose docstring has their meaning."""

    n_clusters: int = 2
    variant: str = "standard"
    kernel: Any = None
    kernel_params: Mapping[str, Any] | None = None
    eigensolver: str = "auto"
    n_init: int | str = "auto"
    offset: float | str = "auto"
    gamma: float = DEFAULT_GAMMA
    k_within: int = 2
    k_between: int = 1
    center: bool | str = "auto"
    scale: bool = True
    tol: float = 1e-4
    max_iter: int = 100

    def __post_init__(self) -> None:
        for name in ("n_clusters", "k_within", "k_between", "max_iter"):
            check_k(getattr(self, name), name)
        check_choice(self.variant, "variant", VARIANTS)
        check_choice(self.eigensolver, "eigensolver", EIGENSOLVERS)
        if self.n_init != "auto":
            check_k(self.n_init, "n_init")
        check_number(self.gamma, "gamma", 0.0, BIGGEST, "a number >= 0")
        check_number(self.tol, "tol", 0.0, BIGGEST, "a number >= 0")
        self._check_scaling()
        self._check_kernel()
        if self.eigensolver not in ("auto", *self.eigensolvers):
            what = f"variant {self.variant!r}" if self.kernel is None else "a kernel"
            raise OptionError(
                f"eigensolver is {self.eigensolver!r}; {what} allows auto, "
                f"{', '.join(self.eigensolvers)}"
            )

    def _check_scaling(self) -> None:
        if not isinstance(self.scale, bool | np.bool_):
            raise OptionError(f"scale is {self.scale!r}; it must be True or False")
        if not (isinstance(self.center, bool | np.bool_) or self.center == "auto"):
            raise OptionError(f"center is {self.center!r}; it must be True, False or 'auto'")
        if self.variant == "laplacian" and self.is_centred:
            raise OptionError(
                "variant 'laplacian' does not centre: of centred features the Laplacian is the "
                "standard form; use variant='standard'"
            )
        if self.offset != "auto":
            check_number(self.offset, "offset", -BIGGEST, BIGGEST, "a number, or 'auto'")
        if self.shift != 0 and not (self.is_centred and self.scale):
            raise OptionError(
                f"offset is {self.offset!r}, in units of a feature's deviation: that needs "
                "center=True and scale=True; use offset=0"
            )

    def _check_kernel(self) -> None:
        if self.kernel is None:
            if self.kernel_params:
                raise OptionError("kernel_params are given, but kernel is None")
            return
        if self.variant not in ("standard", "ritz"):
            raise OptionError(f"variant {self.variant!r} has no kernel form; use kernel=None")
        if self.gamma != DEFAULT_GAMMA:
            raise OptionError(
                f"gamma is {self.gamma!r}, which belongs to variant 'supervised'; that of a kernel "
                f"goes into kernel_params={{'gamma': {self.gamma!r}}}"
            )
        FeatureKernel.of(self.kernel, self.kernel_params)

    @property
    def eigensolvers(self) -> tuple[str, ...]:
        """Those that find the weights of this variant."""
        if self.kernel is not None:
            return tuple(s for s in WITH_KERNEL if s in ALLOWED[self.variant])
        return ALLOWED[self.variant]

    @property
    def is_precomputed(self) -> bool:
        """Whether the table is the kernel matrix of the features."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def is_centred(self) -> bool:
        """Whether each feature's mean is taken off."""
        return self.variant != "laplacian" if isinstance(self.center, str) else bool(self.center)

    @property
    def shift(self) -> float:
        """What is added to each feature in units of its deviation."""
        if isinstance(self.offset, str):
            return 0.5 if self.variant == "supervised" and self.is_centred and self.scale else 0.0
        return float(self.offset)

    @property
    def blocks(self) -> Blocks:
        """The options of variant "supervised"."""
        return Blocks(self.k_within, self.k_between, self.gamma)
