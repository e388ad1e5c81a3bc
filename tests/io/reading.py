"""What the tests of reading tables share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve.errors import TableError
from eigensieve.io.tables import Table, read_table

Write = Callable[..., Path]

BASIC = "id,a,b,y\ns1,1,2.5,u\ns2,-3,4e1,v\n"


def fails(path: Path, *words: str, **options: Any) -> str:
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    for word in (str(path), *words):
        assert word in message
    return message


def check_basic(table: Table) -> None:
    assert table.X.tolist() == [[1, 2.5], [-3, 40]]
    assert table.X.dtype == np.float64
    assert table.X.flags.c_contiguous
    assert table.names == ["a", "b"]
    assert table.rows == ["s1", "s2"]
    assert table.target is not None
    assert table.target.tolist() == ["u", "v"]
