"""Branch and bound with the perspective relaxation, for thousands of features."""
