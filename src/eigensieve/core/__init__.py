"""The nouns: pencil, statistics, solution, budget. NumPy and SciPy only."""
