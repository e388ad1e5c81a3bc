"""Dominance branch and bound, for the largest eigenvalue of thousands of features."""
