"""Branch and bound on features and directions, for thousands of features and a few classes."""
