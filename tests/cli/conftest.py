"""Running the program in this process, on a tiny labelled graph."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from semira.base import settings
from semira.cli.main import app

#: A square a-b-c-d with the diagonal a-c, and e-f apart; lengths as third column.
EDGES = "a b 1\nb c 1\nc d 1\nd a 9\na c 5\ne f 2\n"


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    """Path of an edge list with labels."""
    path = tmp_path / "labelled.txt"
    path.write_text(EDGES)
    return str(path)


@pytest.fixture
def invoke() -> Callable[..., Any]:
    """Run a command line; the result has exit_code, stdout and stderr."""
    runner = CliRunner()

    def run(*args: str, input: bytes | None = None) -> Any:
        return runner.invoke(app, [*map(str, args)], input=input)

    return run


@pytest.fixture
def invoke_json(invoke: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Run a command line with --json and return the object it prints."""

    def run(*args: str, input: bytes | None = None) -> dict[str, Any]:
        result = invoke(*args, "--json", input=input)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


@pytest.fixture
def on_reference() -> Iterator[None]:
    """Compute on the reference device, which has nothing to compile, where none is named."""
    before = settings.override(device="reference")
    yield
    settings.restore(before)
