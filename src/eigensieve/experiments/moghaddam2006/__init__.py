"""Moghaddam, Weiss, Avidan: Generalized spectral bounds for sparse LDA (ICML 2006)."""
