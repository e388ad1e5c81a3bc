"""Check a wheel and an sdist before anyone installs them.

``python .ci/check_dist.py DIST``: the metadata are valid, all names and versions agree, the wheel
holds every file of the package and nothing else, the sdist all that is needed to test it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parents[1]
PACKAGE = "eigensieve/"
VERSION_FILE = f"{PACKAGE}_version.py"
COMPILED = (".so", ".pyd")
NOTES = {f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")}
IN_THE_SDIST = NOTES | {"LICENSE", "CITATION.cff", "pyproject.toml", "conftest.py"}
IN_THE_SDIST |= {
    "setup.py",
    "MANIFEST.in",
    "tests/conftest.py",
    "docs/conf.py",
    "benchmarks/__init__.py",
}


def package_files() -> set[str]:
    """What git knows of the package, and the version file, which it does not."""
    known = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "src/eigensieve"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    return {name.removeprefix("src/") for name in known if name} | {VERSION_FILE}


def complaints_about(metadata: bytes, version: str) -> list[str]:
    """What an index would refuse."""
    found = Metadata.from_email(metadata, validate=True)  # raises for what is not valid
    said = []
    if (found.name, str(found.version)) != ("eigensieve", version):
        said.append(f"the metadata are of {found.name} {found.version}, not of {version}")
    if found.description_content_type != "text/markdown" or not found.description:
        said.append("the README is not in the metadata")
    if not found.license_expression or found.requires_python is None:
        said.append("license or Python version is missing in the metadata")
    return said


def stem(name: str) -> str:
    """The module that a compiled file is: its name up to the first dot."""
    folder, _, file = name.rpartition("/")
    return f"{folder}/{file.partition('.')[0]}"


def check_wheel(path: Path) -> tuple[str, list[str]]:
    """The version of a wheel, and what is wrong with it."""
    version = path.name.split("-")[1]
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
        metadata = archive.read(f"{info}/METADATA")
        written = archive.read(VERSION_FILE).decode()
    inside = {name for name in names if not name.startswith(f"{info}/")}
    said = complaints_about(metadata, version)
    compiled = {name for name in inside if name.endswith(COMPILED)}
    kernels = {name.removesuffix(".pyx") for name in package_files() if name.endswith(".pyx")}
    if len(compiled) > len(kernels):
        said.append(f"{len(compiled)} compiled files of {len(kernels)} kernels")
    said += [f"{name} is missing" for name in sorted(package_files() - inside)]
    said += [f"{name} is not compiled" for name in sorted(kernels - {stem(c) for c in compiled})]
    said += [
        f"{name} does not belong there" for name in sorted(inside - package_files() - compiled)
    ]
    if re.findall(r'"(.*)"', written) != [version]:
        said.append(f"{VERSION_FILE} says {written!r}")
    return version, said


def check_sdist(path: Path, version: str) -> list[str]:
    """What is wrong with an sdist."""
    top = f"eigensieve-{version}/"
    with tarfile.open(path) as archive:
        names = {name.removeprefix(top) for name in archive.getnames()}
        metadata = archive.extractfile(f"{top}PKG-INFO")
        assert metadata is not None
        said = complaints_about(metadata.read(), version)
    wanted = {*IN_THE_SDIST, *(f"src/{name}" for name in package_files())}
    said += [f"{name} is missing" for name in sorted(wanted - names)]
    built = {name for name in names if name.endswith((*COMPILED, ".cpp"))}
    return said + [f"{name} does not belong there" for name in sorted(built)]


def main(folder: Path) -> None:
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    version, said = check_wheel(wheel)
    troubles = [f"{wheel.name}: {words}" for words in said]
    troubles += [f"{sdist.name}: {words}" for words in check_sdist(sdist, version)]
    if troubles:
        raise SystemExit("\n".join(troubles))
    sys.stdout.write(f"{wheel.name} and {sdist.name} are as they should be\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
