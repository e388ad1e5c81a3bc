"""Basis pursuit and uncorrelated LDA: ULDA, SULDA."""
