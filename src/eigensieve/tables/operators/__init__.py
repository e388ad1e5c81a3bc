"""A centred table known by its products."""
