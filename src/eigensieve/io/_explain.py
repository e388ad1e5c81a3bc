"""One kind of error, whatever goes wrong with a file of a table."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eigensieve.errors import TableError


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """One TableError with the path in front, whatever goes wrong with the file."""
    try:
        yield
    except TableError as error:
        raise TableError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: not text in UTF-8 ({error}); save it as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{path}: damaged or cut off ({error}); copy it again") from error
    except csv.Error as error:
        raise TableError(
            f"{path}: {error}; look for a quotation mark that is not closed"
        ) from error
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from error
