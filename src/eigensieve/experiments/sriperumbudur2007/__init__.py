"""Sriperumbudur, Torres, Lanckriet: Sparse eigen methods by D.C. programming (ICML 2007)."""
