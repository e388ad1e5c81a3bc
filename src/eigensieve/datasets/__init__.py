"""Embedded tables, generators, and the loader for a data folder."""
