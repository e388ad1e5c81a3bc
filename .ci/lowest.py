"""Print the lowest versions that pyproject.toml allows, as pip's constraints.

``python .ci/lowest.py [EXTRA ...]``: of the dependencies, and of those of extras.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
    "project"
]
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<lowest>[\w.]+)$")


def lowest_versions(extras: list[str]) -> list[str]:
    """``name==lowest`` for every requirement; one without a lower bound is an error."""
    wanted = list(PROJECT["dependencies"])
    for extra in extras:
        wanted += PROJECT["optional-dependencies"][extra]
    found = []
    for requirement in wanted:
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} is not of the form name>=version")
        found.append(f"{match['name']}=={match['lowest']}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest_versions(sys.argv[1:])) + "\n")
