"""AnnData: what is read from one, and what is written into it. `eigensieve.tl` is the face."""
