"""matplotlib displays, each usable alone and in the report."""
