"""Half of the tests run small statements of the cpu directly, half through the interpreter."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from zlib import crc32

import pytest

from semira.backends.cpu import direct


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Objects here are small: without this nothing would meet the code for large ones."""
    direct.ENABLED = crc32(item.nodeid.encode()) % 2 == 0
    try:
        return (yield)
    finally:
        direct.ENABLED = True
