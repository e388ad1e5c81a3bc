"""The package as a graph of imports, read off the syntax trees.

Every import counts: relative or absolute, inside a function or under ``TYPE_CHECKING``; and so does
a text "module:name", by which modules are named that are imported on first use. A kernel is a
module as any other: its ``cimport`` counts as ``import``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CYTHON = {".pxd", ".pyx"}
FACE = "__init__"  # the public face, eigensieve/__init__.py


@dataclass(frozen=True)
class Import:
    """The module ``target`` is imported whole, or (with ``name``) one name out of it."""

    target: str
    name: str | None
    line: int
    is_text: bool = False  # named by a text, and imported on first use


@dataclass(frozen=True)
class Module:
    """One source file, named by its place in the package: ``eigensieve.pencil.budget``."""

    name: str
    is_package: bool
    is_kernel: bool
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def room(self) -> str:
        return room_of(self.name)

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


House = dict[str, Module]


def room_of(name: str) -> str:
    """The folder below the package in which a module lies, or its own name there."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else FACE


def read_house(root: Path) -> House:
    files: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix == ".py" or path.suffix in CYTHON:
            parts = path.relative_to(root.parent).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            files.setdefault(".".join(parts[:-1] if is_package else parts), []).append(path)
    house = {}
    for name, paths in files.items():
        is_package, is_kernel = paths[0].stem == "__init__", paths[0].suffix in CYTHON
        sources = [path.read_text(encoding="utf-8") for path in paths]
        trees = [ast.parse(_imports_of_cython(s) if is_kernel else s) for s in sources]
        package = name if is_package else name.rpartition(".")[0]
        imports = (item for tree in trees for item in _read_imports(tree, package, set(files)))
        house[name] = Module(name, is_package, is_kernel, trees[0], tuple(imports))
    return house


def _imports_of_cython(source: str) -> str:
    """The imports as Python, each on its line; all else is left out."""
    lines, is_open = [], False
    for line in source.splitlines():
        is_import = is_open or re.match(r"(from [\w.]+ c?import|c?import) ", line)
        lines.append(line.replace("cimport", "import") if is_import else "")
        is_open = bool(is_import) and ")" not in line and (is_open or "(" in line)
    return "\n".join(lines)


def _read_imports(tree: ast.Module, package: str, known: set[str]) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, package)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                target, name = (inner, None) if inner in known else (source, alias.name)
                yield Import(target, name, node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for home in (package, package.split(".")[0]):
                target = f"{home}.{node.value.partition(':')[0]}"
                if re.fullmatch(r"[\w.]+:\w+", node.value) and target in known:
                    yield Import(target, node.value.partition(":")[2], node.lineno, is_text=True)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if node.level == 0:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def is_inner(module: Module, item: Import) -> bool:
    return item.target.split(".")[0] == module.name.split(".")[0]


def inner_imports(house: House) -> Iterator[tuple[Module, Import]]:
    """The imports of one file of the house by another."""
    for module in house.values():
        for item in module.imports:
            if is_inner(module, item) and item.target != module.name:
                yield module, item


def importers(house: House) -> dict[str, set[str]]:
    """Who imports each module; the public face, which imports everything, is left out."""
    found: dict[str, set[str]] = {name: set() for name in house}
    for module, item in inner_imports(house):
        if module.room != FACE and item.target in found:
            found[item.target].add(module.name)
    return found


def lowest_package(house: House, names: set[str]) -> str:
    """The lowest package that contains all these modules; that of none is nowhere."""
    paths = [house[name].package.split(".") for name in names]
    common = []
    for parts in zip(*paths):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    return ".".join(common)


def find_cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components with more than one member (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, set())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            first = stack.index(node)
            members = stack[first:]
            del stack[first:]
            if len(members) > 1:
                cycles.append(sorted(members))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return cycles
