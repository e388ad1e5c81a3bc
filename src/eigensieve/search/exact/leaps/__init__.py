"""Leaps and bounds, for the trace and log-det criteria."""
