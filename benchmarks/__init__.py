"""How fast, how good: ratios against peers, measured in one run."""
