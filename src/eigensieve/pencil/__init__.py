"""The waist: the pencil, problems on it, criteria, solutions, limits. NumPy and SciPy only."""
