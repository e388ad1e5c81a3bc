"""The independent checker of proof files.

It shares no code with the solvers: nothing here imports another room but ``errors``, and no
library but numpy. Every number is enclosed, every rounding error bounded, and what the
enclosures leave open is decided with exact rationals.
"""
