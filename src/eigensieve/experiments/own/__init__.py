"""Our own experiments: what the papers did not ask."""
