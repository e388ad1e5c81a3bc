"""k columns of a pencil. A module with a ``SOLVER`` is found by itself."""
