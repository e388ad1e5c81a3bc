"""The papers' tables and figures, regenerated and judged cell by cell.

One folder a paper, one module and one TOML file a table or figure: ``docs/reproduce.md`` tells how
they work together.
"""
