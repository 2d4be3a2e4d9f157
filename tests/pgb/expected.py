"""The list of expected failures: which of upstream's tests, and why."""

from __future__ import annotations

import tomllib
from pathlib import Path

_LIST = Path(__file__).with_name("expected.toml")


def expected_failures(path: Path = _LIST) -> dict[str, str]:
    """Return ``{"test_file.py::test_name": reason}``.

    Raises
    ------
    ValueError
        A test is listed twice, or a group has no reason.
    """
    found: dict[str, str] = {}
    for group in tomllib.loads(path.read_text(encoding="utf-8")).get("expected", []):
        reason = group["reason"].strip()
        if not reason:
            raise ValueError(f"a group of {path} has no reason: {group}")
        for test in group["tests"]:
            if test in found:
                raise ValueError(f"{test} is listed twice in {path}")
            found[test] = reason
    return found
