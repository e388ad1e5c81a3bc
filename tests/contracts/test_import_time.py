"""``import eigensieve`` and ``eigensieve --help`` answer at once: nothing heavy is loaded."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import eigensieve

HEAVY = {"numpy", "sklearn", "pandas", "matplotlib"}
NOT_AT_IMPORT = HEAVY | {"scipy", "click", "rich", "jinja2"}
# what serves data that few people have
ENGINES = {"dask", "distributed", "zarr", "h5py", "anndata", "torch", "cupy", "array_api_compat"}
CPU_SECONDS = 0.15

# What the interpreter loaded on its own (a .pth file may) is not held against us.
PROBE = """
import json, sys, time
before, start = set(sys.modules), time.process_time()
code = 0
try:
    {action}
except SystemExit as stop:
    code = stop.code or 0
seconds = time.process_time() - start
sys.stdout.flush()
print()
print(json.dumps(dict(code=code, seconds=seconds, loaded=sorted(set(sys.modules) - before))))
"""


def probe(action: str) -> tuple[dict, str]:
    """Run ``action`` in a fresh process; its exit code, CPU time and modules, and its output."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(action=action)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    output, _, last = done.stdout.rstrip().rpartition("\n")
    return json.loads(last), output


def test_import_loads_nothing_heavy() -> None:
    result, _ = probe("import eigensieve")
    assert "eigensieve" in result["loaded"]
    assert not NOT_AT_IMPORT & set(result["loaded"])


def test_import_is_cheap() -> None:
    # The best of three: other work on the machine can only slow a process down.
    assert min(probe("import eigensieve")[0]["seconds"] for _ in range(3)) <= CPU_SECONDS


@pytest.mark.parametrize(
    ("option", "said"), [("--help", "Usage"), ("--version", eigensieve.__version__)]
)
def test_command_line_answers_without_the_heavy_libraries(option: str, said: str) -> None:
    result, output = probe(
        f"sys.argv = ['eigensieve', {option!r}]; from eigensieve.cli.main import main; main()"
    )
    assert result["code"] == 0
    assert said in output
    assert not HEAVY & set(result["loaded"])


FITS = """
import numpy as np, eigensieve as es
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 8)), np.arange(30) % 2
    X[:, 0] += 3 * y
    for model in (es.SparseLDA(2), es.SparsePCA(1), es.GroupLassoLDA(2), es.QAlphaSelector(2)):
        model.fit(X, y)
    es.study(X, y, ks=(1, 2), cv=3, n_repeats=1)
"""


def test_ordinary_tables_need_no_engine() -> None:
    result, _ = probe(FITS.strip())
    assert "sklearn" in result["loaded"]
    assert not ENGINES & set(result["loaded"])


def test_the_probe_sees_a_heavy_import() -> None:
    assert "numpy" in probe("import numpy")[0]["loaded"]


def test_dir_lists_every_public_name() -> None:
    assert set(eigensieve.__all__) <= set(dir(eigensieve))


@pytest.mark.parametrize("name", eigensieve.__all__)
def test_public_name_resolves(name: str) -> None:
    assert getattr(eigensieve, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    """The lazy table and the imports under TYPE_CHECKING are two lists of one thing."""
    tree = ast.parse(Path(eigensieve.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: f"{node.module}:{alias.name}" if alias.asname else node.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for alias in node.names
    }
    assert imported == eigensieve._HOME


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = eigensieve.no_such_name
