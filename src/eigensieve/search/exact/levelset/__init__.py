"""Level-set branch and bound, for the largest eigenvalue."""
