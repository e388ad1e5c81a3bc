"""``solver-table``: every solver that is found, with what its file says of it."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from eigensieve.search.solve import find_solvers


class SolverTable(SphinxDirective):
    """A table that a new solver enters by itself."""

    def run(self) -> list[nodes.Node]:
        rows = ["| solver | what | proves | at most |", "|---|---|---|---|"]
        for name, solver in find_solvers().items():
            proof = "yes" if solver.certifies else "no"
            most = f"{solver.max_features:,} columns" if solver.max_features else ""
            rows.append(f"| `{name}` | {solver.summary} | {proof} | {most} |")
        box = nodes.Element()
        self.state.nested_parse(StringList(rows, source=__file__), 0, box)
        return box.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("solver-table", SolverTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
