"""The method that the guide writes works as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import semira as gb
from semira.methods import register, unregister

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "methods.md"


def test_the_method_of_the_guide_multiplies(tmp_path, monkeypatch) -> None:
    blocks = re.findall(
        r'```python title="(\w+\.py)"\n(.*?)```', GUIDE.read_text("utf-8"), re.DOTALL
    )
    assert [name for name, _ in blocks] == ["plan.py", "cpu.py"]
    folder = tmp_path / "scipy_rows"
    folder.mkdir()
    for name, text in [("__init__.py", ""), *blocks]:
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert register("scipy_rows") == ("scipy_rows",)
    try:
        with gb.device("cpu"):
            rng = np.random.default_rng(3)
            rows, cols = np.divmod(rng.choice(400, 90, replace=False), 20)
            A = gb.Matrix.from_coo(rows, cols, rng.random(90), nrows=20, ncols=20)
            u = gb.Vector.from_coo([0, 3, 7], [1.0, 2.0, 3.0], size=20)
            mask = gb.Vector.from_coo(range(10), True, size=20)
            for made in (A.mxv(u, "plus_times"), A.T.mxv(u, "plus_times"), u.vxm(A, "plus_times")):
                assert made.new(method="scipy_rows").isclose(made.new())
                found = made.new(mask=~mask.S, method="scipy_rows")
                assert found.isclose(made.new(mask=~mask.S))
            assert "rows, by SciPy" in str(gb.explain(A.mxv(u, "plus_times"), method="scipy_rows"))
            with pytest.raises(gb.exceptions.PlanError, match="plus_times alone"):
                A.mxv(u, "min_plus").new(method="scipy_rows")
    finally:
        unregister("scipy_rows")
