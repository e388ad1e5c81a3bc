"""Wolf, Shashua: Feature selection for unsupervised and supervised inference (JMLR 2005)."""
