"""The kernels: every .pyx below src is a C++ extension module of its place. All else is in
pyproject.toml.

EIGENSIEVE_CHECK_BOUNDS=1 builds them with every index checked, EIGENSIEVE_SANITIZE=1 for the
address sanitizer.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError

ROOT = Path(__file__).parent
VIEWS = Path("src/eigensieve/pencil")  # views.hpp
CORES = os.cpu_count() or 1

NO_COMPILER = """
The kernels of eigensieve could not be compiled; what went wrong is said above. To install it from
its sources, a C++17 compiler and Python's header files are needed:

    Debian, Ubuntu   apt install g++ python3-dev
    Fedora           dnf install gcc-c++ python3-devel
    macOS            xcode-select --install
    Windows          the "Build Tools for Visual Studio", with C++
    conda            conda install -c conda-forge cxx-compiler
"""


class BuildKernels(build_ext):
    """As setuptools does it, on all cores, with the flags of the compiler at hand."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or CORES

    def build_extensions(self) -> None:
        flags = self.flags()
        for extension in self.extensions:
            extension.extra_compile_args = flags
            extension.extra_link_args = [f for f in flags if f.startswith("-fsanitize")]
        try:
            super().build_extensions()
        except CCompilerError as error:
            raise SystemExit(f"{error}\n{NO_COMPILER}") from error

    def flags(self) -> list[str]:
        """Bit for bit the same numbers everywhere: no fused multiply-add, no -march=native."""
        if self.compiler.compiler_type == "msvc":
            return ["/O2", "/std:c++17", "/fp:precise", "/EHsc"]
        flags = [
            "-O3",
            "-funroll-loops",
            "-std=c++17",
            "-ffp-contract=off",
            "-g0",
            "-Wno-unused-function",
        ]
        if os.environ.get("EIGENSIEVE_SANITIZE"):
            flags += ["-fsanitize=address", "-fno-omit-frame-pointer", "-g1"]
        return flags


def kernels() -> list[Extension]:
    """An extension for every .pyx."""
    macros = [("EIGENSIEVE_CHECK_BOUNDS", "1")] if os.environ.get("EIGENSIEVE_CHECK_BOUNDS") else []
    return [
        Extension(
            ".".join(path.with_suffix("").parts[1:]),
            [str(path)],
            include_dirs=[str(VIEWS)],
            define_macros=macros,
            depends=[str(VIEWS / "views.hpp")],
            language="c++",
        )
        for path in sorted(p.relative_to(ROOT) for p in (ROOT / "src").rglob("*.pyx"))
    ]


setup(
    ext_modules=cythonize(
        kernels(),
        build_dir="build/cython",  # not among the sources
        nthreads=CORES if sys.platform == "linux" else 0,
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
        force=bool(os.environ.get("EIGENSIEVE_CHECK_BOUNDS")),
    ),
    cmdclass={"build_ext": BuildKernels},
)
