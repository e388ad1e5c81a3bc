"""The proximal map of total variation: min 1/2 |x - y|^2 + weight sum_i |x_i - x_(i-1)|, exactly.

Dynamic programming (Johnson 2013), time and memory linear in the length. Let f_k(x) be the least
cost of the first k entries with the k-th at x, plus that of the step to a free next entry. Its
derivative is piecewise linear, and the step clips it to [-weight, weight]: at ``lower`` and
``upper``, between which the next entry is followed. Only the pieces between them are kept, as knots
with the jumps of slope and offset there; every knot is made once and dropped at most once.
"""

from ..pencil.views cimport Index, NewVector, Vector, array_of, copy_of, sum, vector


cdef NewVector[double] smooth(Vector[double] y, double weight) noexcept nogil:
    """The minimiser x (n,); entries that the penalty merges are exactly equal."""
    cdef Index n = y.size, k
    cdef NewVector[double] lower, upper, x
    if n < 2 or weight <= 0.0:
        return copy_of(y)
    if weight >= widest_sum(y):
        return NewVector[double](n, sum(y) / n)  # also keeps a huge weight out of the sums below
    lower, upper, x = NewVector[double](n), NewVector[double](n), NewVector[double](n)
    x[n - 1] = follow(y, weight, lower, upper)
    for k in range(n - 2, -1, -1):
        x[k] = min(max(x[k + 1], lower[k]), upper[k])
    return x


cdef double widest_sum(Vector[double] y) noexcept nogil:
    """max |sum of the first entries less their mean|: from this weight on, x is constant."""
    cdef Index i
    cdef double mean = sum(y) / y.size, total = 0.0, widest = 0.0
    for i in range(y.size):
        total += y[i] - mean
        widest = max(widest, abs(total))
    return widest


cdef double follow(
    Vector[double] y, double weight, Vector[double] lower, Vector[double] upper
) noexcept nogil:
    """``lower`` and ``upper`` of every entry, and the minimiser's last entry."""
    cdef Index n = y.size, k
    cdef NewVector[double] knots = NewVector[double](2 * n), slopes = NewVector[double](2 * n)
    cdef NewVector[double] offsets = NewVector[double](2 * n)
    cdef Index left = n, right = n - 1  # no knots at first; each step adds one at either end
    cdef double edge = 0.0  # the clipped derivative is -edge far to the left and edge to the right
    cdef double slope, offset, target, low_slope, low_offset
    for k in range(n):
        slope, offset = 1.0, -y[k] - edge
        target = 0.0 if k == n - 1 else -weight
        while left <= right and slope * knots[left] + offset <= target:
            slope += slopes[left]
            offset += offsets[left]
            left += 1
        lower[k] = (target - offset) / slope
        if k == n - 1:
            break
        left -= 1
        low_slope, low_offset = slope, offset
        slope, offset = 1.0, -y[k] + edge
        while right > left and slope * knots[right] + offset >= weight:
            slope -= slopes[right]
            offset -= offsets[right]
            right -= 1
        upper[k] = (weight - offset) / slope
        right += 1
        knots[left], slopes[left], offsets[left] = lower[k], low_slope, low_offset + weight
        knots[right], slopes[right], offsets[right] = upper[k], -slope, weight - offset
        edge = weight
    return lower[n - 1]


ctypedef NewVector[double] (*Smooth)(Vector[double], double) except + nogil


def merge_neighbours(y, double weight):
    """`smooth` of an array."""
    cdef Vector[double] values = vector(y)
    cdef NewVector[double] x
    with nogil:
        x = (<Smooth> smooth)(values, weight)
    return array_of(x)
