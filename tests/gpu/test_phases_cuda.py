"""The script that looks into programs, as it is run: in a process whose programs have a clock."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.studies.phases import is_product_launch, is_product_phase, times_of
from tests.helpers import emulated

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "scripts" / "phases_gpu.py"
#: A process of its own is emulated only if it is told to be.
EMULATED = "from tests.helpers.emulated import driver; driver.install()"
RUN = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"


def test_phases_of_every_algorithm_are_timed(tmp_path: Path) -> None:
    out = tmp_path / "phases.json"
    code = f"{EMULATED if emulated.is_installed else ''}\n{RUN}"
    given = ["kron:7,ring", "bfs,sssp,pagerank,cc,tc", "--each", "--out", str(out)]
    ran = subprocess.run(
        [sys.executable, "-c", code, str(SCRIPT), *given],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "ring" in ran.stderr
    found = json.loads(out.read_text())
    assert found["environment"]["device"] == "cuda"
    cases = {case["algorithm"]: case for case in found["results"]}
    assert list(cases) == ["bfs", "sssp", "pagerank", "cc", "tc"]
    for name, case in cases.items():
        whole, products = times_of(case)
        assert 0 < products <= whole == pytest.approx(case["device_ms"]), name
        assert case["lost"] == 0, name
        assert f"kron:7 {name}: " in ran.stdout
    assert all(is_product_launch(each) for each in cases["tc"]["launches"])
    searched = [row for row in cases["bfs"]["phases"] if is_product_phase(row)]
    assert sum(row["times"] for row in searched) >= cases["bfs"]["iterations"]
    assert any("cells 0" in row["what"] for row in cases["bfs"]["phases"])
    ranked = [row["times"] for row in cases["pagerank"]["phases"] if "sum_all_rows" in row["what"]]
    assert sum(ranked) == cases["pagerank"]["iterations"] == 20
