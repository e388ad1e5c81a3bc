"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> None:
    """Write it beside, then put it in its place: a crash leaves the old file or the new one."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    draft = path.with_name(f".eigensieve-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
