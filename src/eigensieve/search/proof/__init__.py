"""Proofs: what writes them. The checker, eigensieve.proofs, shares no code with it."""
