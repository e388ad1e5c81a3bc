"""Every exception and warning of eigensieve.

Each error also inherits the built-in class that older code would catch
(``ValueError``, ``ImportError``), so ``except ValueError`` keeps working.
"""

from __future__ import annotations


class EigensieveError(Exception):
    """Base class of every error that eigensieve raises on purpose."""


class InputError(EigensieveError, ValueError):
    """The data, or an argument, cannot be used; the message says what to do."""


class PencilError(InputError):
    """The matrices (A, B) do not form a valid pencil."""


class OptionError(InputError):
    """An option has a value, or a name, that is not known."""


class TableError(InputError):
    """A table on disk cannot be read as asked."""


class ModelFileError(InputError):
    """A model file is damaged, of a newer version, or not a model at all."""


class OtherStudyError(InputError):
    """A checkpoint holds the results of another study."""


class BusyCheckpointError(InputError):
    """A checkpoint belongs to a run that is still going."""


class TimeLimitError(EigensieveError, TimeoutError):
    """A time limit ended a search before it had what was asked for."""


class ClusterError(EigensieveError, RuntimeError):
    """Workers of a cluster were lost too often, or there are none."""


class VerificationError(EigensieveError, AssertionError):
    """A solution does not stand up to independent recomputation."""


class MissingExtraError(EigensieveError, ImportError):
    """An optional dependency is not installed; the message has the pip line."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'eigensieve[{extra}]'")
