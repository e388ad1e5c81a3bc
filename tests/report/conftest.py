"""The browser that opens the pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("NO BROWSER: there is no chromium on PATH (Debian: apt install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("NO BROWSER: playwright is not installed (pip install 'eigensieve[dev]')")
    with sync_playwright() as playwright:
        args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        opened = playwright.chromium.launch(executable_path=chromium, args=args)
        yield opened
        opened.close()
