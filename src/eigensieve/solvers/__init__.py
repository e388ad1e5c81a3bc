"""One file, one algorithm. A file with a ``SOLVER`` is found by itself."""
