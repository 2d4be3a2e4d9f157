"""The plugin: the alias, and what a test file sees through it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("graphblas", reason="python-graphblas is not installed")

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"

PROBE = """
import graphblas as gb
import graphblas.unary
from graphblas import Matrix, binary
from graphblas.core.mask import Mask
from graphblas.exceptions import DimensionMismatch


def test_it_is_semira():
    import semira

    assert gb is semira
    assert Matrix is semira.Matrix
    assert graphblas.unary is semira.unary
    assert issubclass(DimensionMismatch, ValueError)


def test_it_computes():
    A = Matrix.from_coo([0, 1], [1, 0], [1, 2])
    assert binary.plus(A | A).new().reduce_scalar().new() == 6


def test_that_fails():
    assert gb.backend != "suitesparse"
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (SOURCE, ROOT, folder)))
    command = [sys.executable, "-m", "pytest", "-p", "tests.pgb.plugin", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(folder), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "SEMIRA_DEVICE": "reference"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_tests_see_semira_and_outcomes_are_written(tmp_path: Path) -> None:
    (tmp_path / "test_probe.py").write_text(PROBE)
    done = run(tmp_path, "--pgb-report", "report.json", "test_probe.py")
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "graphblas is semira" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert Path(report["module"]).parent == SOURCE / "semira"
    outcomes = {name: found["outcome"] for name, found in report["tests"].items()}
    assert outcomes == {
        "test_probe.py::test_it_is_semira": "passed",
        "test_probe.py::test_it_computes": "passed",
        "test_probe.py::test_that_fails": "failed",
    }


def test_the_real_package_imported_before_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text("import graphblas\n")
    (tmp_path / "test_probe.py").write_text(PROBE)
    done = run(tmp_path, "-p", "early", "test_probe.py")
    assert done.returncode != 0
    assert "before the alias could be made" in done.stdout + done.stderr
