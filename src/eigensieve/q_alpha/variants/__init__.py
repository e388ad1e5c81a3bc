"""Variants of Q-alpha: kernels, Laplacian, Ritz, class labels."""
