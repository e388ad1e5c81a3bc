"""Exact search: a proved bound on every set."""
