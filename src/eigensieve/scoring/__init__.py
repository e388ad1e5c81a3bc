"""Penalised optimal scoring: GLOSS, GLOSS-D, SLDA, PLDA."""
