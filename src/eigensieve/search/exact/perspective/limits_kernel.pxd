"""Rows of limits as the perspective search sees them (pencil/limits.py), and what they decide."""

from ....pencil.views cimport Flag, Index, Vector


cdef cppclass LimitRows:
    """Row c has the features and weights from starts[c] on, which sum to most[c] at most."""
    Vector[Index] starts, features
    Vector[double] weights, most


cdef LimitRows read_limits(object limits) except *
cdef bint narrow(LimitRows& limits, Vector[Flag] state, Index k) noexcept nogil
