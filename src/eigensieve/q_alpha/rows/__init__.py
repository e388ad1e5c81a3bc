"""The rows of Q-alpha: features x samples, dense or not."""
