"""Searches that relax the cardinality: thresholding, D.C. programming, the lasso, semidefinite."""
