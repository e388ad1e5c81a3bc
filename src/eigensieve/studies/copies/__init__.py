"""Copies: selected features that say the same, and rows that are one sample."""
