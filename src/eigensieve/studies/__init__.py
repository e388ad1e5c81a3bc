"""Resampling studies: results as plain data."""
