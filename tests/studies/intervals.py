"""The interval of a cross-validated error from its definition, as roots of a polynomial."""

from collections.abc import Sequence

from numpy.polynomial import Polynomial

NORMAL_95 = 1.959963984540054


def ends(
    error: float, n: float, others: Sequence[float], shift: float = 0.0
) -> tuple[float, float]:
    """Where the error is 1.96 standard deviations away, if the end were the truth.

    The variance is that of n tested samples, and of each of others again; a shift counts on
    its side.
    """
    q = Polynomial([0.0, 1.0])

    def roots(bias: float) -> list[float]:
        variance = q * (1 - q) * sum(1 / size for size in (n, *others)) + bias**2
        return sorted(((q - error) ** 2 - NORMAL_95**2 * variance).roots().real.tolist())

    return max(0.0, roots(min(shift, 0.0))[0]), min(1.0, roots(max(shift, 0.0))[1])
