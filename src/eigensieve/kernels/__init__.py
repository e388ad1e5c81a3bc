"""Compiled inner loops: arrays in, arrays out, nothing else."""
