"""Sanchez Merchante, Grandvalet, Govaert: An efficient approach to sparse LDA (ICML 2012)."""
