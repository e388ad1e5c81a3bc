"""Embedded tables, and the loader for a data folder."""
