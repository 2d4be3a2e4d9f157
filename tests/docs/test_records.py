"""``make records`` makes every record of a GPU that pages show, by commands that there are."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
import typer
from tests.docs.studies import diagonals_of
from tests.docs.tables import RESULTS, ROOT

from semira.bench.record import parse_record

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

#: Pictures and tables are made of them, but not by `semira bench`.
SCRIPTS = ("phases_gpu.json", "diagonals_gpu.json", "hot_gpu.json", "memory_policies.json")


@pytest.fixture(scope="module")
def lines() -> str:
    """Return what `make records` would run, each command on a line."""
    done = subprocess.run(
        ["make", "-n", "records"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.replace("\\\n", " ")


def test_every_record_of_a_gpu_has_a_line(lines: str) -> None:
    stored = {path.name: path.read_text("utf-8") for path in RESULTS.glob("*.jsonl")}
    last = {name: parse_record(text.splitlines()[-1]) for name, text in stored.items() if text}
    on_gpu = {name for name, record in last.items() if "gpu" in record.environment}
    assert len(on_gpu) > 10
    wanted = on_gpu | {*SCRIPTS}
    assert {name for name in wanted if f"--out bench/results/{name}" not in lines} == set()


@pytest.mark.parametrize(("program", "least"), [("semira bench", 3), ("python -m benchmarks", 18)])
def test_commands_are_accepted(lines: str, program: str, least: int) -> None:
    from benchmarks.__main__ import app as studies

    from semira.cli.main import app

    bench = typer.main.get_command(app).commands["bench"]
    group = bench if program == "semira bench" else typer.main.get_command(studies)
    found = re.findall(rf"{program} (.+?)(?: \|\||$)", lines, re.MULTILINE)
    assert len(found) >= least
    for line in found:
        name, *arguments = shlex.split(line.replace("$method", "auto").replace("$append", ""))
        # Unknown options, values outside a choice and missing arguments raise.
        group.get_command(None, name).make_context(name, arguments)


def test_scripts_are_there(lines: str) -> None:
    scripts = set(re.findall(r"-m benchmarks\.scripts\.(\w+)", lines))
    assert len(scripts) == len(SCRIPTS)
    assert all((ROOT / "benchmarks" / "scripts" / f"{name}.py").is_file() for name in scripts)


def test_a_record_of_diagonals_is_a_table() -> None:
    row = {
        "graph": "grid:4x4", "call": "cc", "off_ms": 3.0, "on_ms": 2.0, "build_ms": 0.5,
        "copy_bytes": 160, "off_registers": 64, "off_local_bytes": 8, "on_registers": 60,
        "on_local_bytes": 0, "same": True, "ran": True,
    }  # fmt: skip
    text = diagonals_of({"environment": {"commit": "0" * 40}, "results": [row]})
    expected = "| grid:4x4 | cc | 3 | 2 | 1.5 | 0.5 | 0.00016 | 64, 8 | 60, 0 | yes |"
    assert text.splitlines()[-1] == expected
    text = diagonals_of({"environment": {}, "results": [{**row, "same": False}]})
    assert text.endswith("| **no** |")
