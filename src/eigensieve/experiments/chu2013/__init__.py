"""Chu, Zhang: Sparse uncorrelated linear discriminant analysis (ICML 2013)."""
