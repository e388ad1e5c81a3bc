"""Greedy search: forward, backward, swaps, starts."""
