"""All sets of k features that are nearly as good as the best one."""
