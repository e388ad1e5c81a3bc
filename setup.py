"""The kernels: every .pyx below src is a C++ extension module of its place. All else is in
pyproject.toml.

EIGENSIEVE_CHECK_BOUNDS=1 builds them with every index checked, EIGENSIEVE_SANITIZE=1 for the
address sanitizer, EIGENSIEVE_DEBUG=1 for a debugger.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, PlatformError

ROOT = Path(__file__).parent
VIEWS = Path("src/eigensieve/pencil")  # views.hpp
MODES = ("CHECK_BOUNDS", "SANITIZE", "DEBUG")
MODE = " ".join(m for m in MODES if os.environ.get(f"EIGENSIEVE_{m}", "0") not in ("", "0"))
BUILT_BY = Path("build/kernels.txt")  # the mode of the last build: another one builds all anew
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

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
        self.parallel = self.parallel or min(CORES, 8)

    def build_extensions(self) -> None:
        flags = self.flags()
        for extension in self.extensions:
            extension.extra_compile_args = flags
            extension.extra_link_args = [f for f in flags if f.startswith("-fsanitize")]
        try:
            super().build_extensions()
        except (CCompilerError, PlatformError) as error:
            raise SystemExit(f"{error}\n{NO_COMPILER}") from error

    def flags(self) -> list[str]:
        """The same roundings on every machine: no fused multiply-add, no -march=native."""
        if self.compiler.compiler_type == "msvc":
            return ["/O2", "/std:c++17", "/fp:precise", "/EHsc"]
        flags = ["-std=c++17", "-ffp-contract=off", "-Wno-unused-function"]
        flags += ["-O0", "-g"] if "DEBUG" in MODE else ["-O3", "-funroll-loops", "-g0"]
        if "SANITIZE" in MODE:
            flags += ["-fsanitize=address", "-fno-omit-frame-pointer", "-g1"]
        return flags


def kernels() -> list[Extension]:
    """An extension for every .pyx."""
    return [
        Extension(
            ".".join(path.with_suffix("").parts[1:]),
            [str(path)],
            include_dirs=[str(VIEWS)],
            define_macros=[("EIGENSIEVE_CHECK_BOUNDS", "1")] if "CHECK_BOUNDS" in MODE else [],
            depends=[str(VIEWS / "views.hpp"), str(BUILT_BY), "setup.py"],
            language="c++",
        )
        for path in sorted(p.relative_to(ROOT) for p in (ROOT / "src").rglob("*.pyx"))
    ]


def is_new_mode() -> bool:
    """Whether the mode has changed; it is then written down, later than what was built."""
    if BUILT_BY.exists() and BUILT_BY.read_text() == MODE:
        return False
    BUILT_BY.parent.mkdir(exist_ok=True)
    BUILT_BY.write_text(MODE)
    return True


if __name__ == "__main__":  # Cython's processes may import this file
    os.chdir(ROOT)
    setup(
        ext_modules=cythonize(
            kernels(),
            build_dir="build/cython",  # not among the sources
            force=is_new_mode(),
            emit_linenums="DEBUG" in MODE,  # a debugger shows lines of the .pyx
            nthreads=CORES if sys.platform == "linux" else 0,
            include_path=["src"],
            compiler_directives={
                "language_level": 3,
                "boundscheck": False,
                "wraparound": False,
                "cdivision": True,
                "initializedcheck": False,
            },
        ),
        cmdclass={"build_ext": BuildKernels},
    )
