"""Trace calls: count calls, functions and files of our own code on four trips.

    python tools/trips.py [--json]

`sys.setprofile` counts each trip, on the cpu and, where g++ is installed, on the emulated GPU.
Only calls of functions under ``src/semira`` count, not libraries or generated code.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "semira"
SIZE, LARGE = 200, 3_000


def counted(call: Callable[[], Any]) -> dict[str, int]:
    """Return calls, functions, files and changes of room while `call` runs."""
    calls: list[tuple[str, str, int]] = []
    own = str(SOURCE) + "/"

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(own):
            calls.append((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    rooms = [name.removeprefix(own).partition("/")[0] for name, _, _ in calls]
    return {
        "calls": len(calls),
        "functions": len(set(calls)),
        "files": len({name for name, _, _ in calls}),
        "room_changes": sum(one != other for one, other in itertools.pairwise(rooms)),
    }


def trips(device: str, size: int) -> dict[str, Callable[[], Any]]:
    """Return the trips on a device, each as a call that can be repeated."""
    import numpy as np

    import semira as gb

    rng = np.random.default_rng(0)
    rows, cols = (rng.integers(0, size, 4 * size) for _ in range(2))
    graph = gb.Matrix.from_coo(rows, cols, True, nrows=size, ncols=size, dup_op="any").to(device)
    start = gb.Vector.from_coo([0, 1, 2], True, size=size).to(device)
    mask, out = gb.Vector.from_coo([3], True, size=size).to(device), gb.Vector(bool, size)
    product = gb.Matrix(int, size, size)

    def vxm() -> None:
        out(~mask.S, replace=True) << start.vxm(graph, gb.semiring.any_pair)

    def mxm() -> None:
        product << graph.mxm(graph, gb.semiring.plus_pair)

    return {"a masked vxm": vxm, "b loop (bfs)": lambda: gb.algorithms.bfs(graph, 0), "c mxm": mxm}


def measure(device: str) -> dict[str, dict[str, int]]:
    """Return every trip on a device: the first call, then a warm one."""
    found = {}
    sizes = (SIZE, LARGE) if device == "cpu" else (SIZE,)
    for size in sizes:
        for name, call in trips(device, size).items():
            found[f"{name}, n={size}, first"] = counted(call)
            call()
            call()
            found[f"{name}, n={size}, warm"] = counted(call)
    return found


def command_line() -> dict[str, dict[str, int]]:
    """Return the trip of ``semira run bfs`` in this process: first and again."""
    import contextlib
    import io

    from semira.cli.main import app

    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            app(["run", "bfs", "grid:2x3", "--device", "cpu"], prog_name="semira")

    return {"d semira run bfs, first": counted(run), "d semira run bfs, again": counted(run)}


def main() -> None:
    """Print the trips as a table, or as JSON."""
    parser = argparse.ArgumentParser(prog="python tools/trips.py", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-cuda", action="store_true", help="leave out the emulated GPU")
    given = parser.parse_args()
    found = {"cpu": {**command_line(), **measure("cpu")}}
    if not given.no_cuda:
        sys.path.insert(0, str(ROOT))
        from tests.helpers.emulated import build, driver

        if build.has_compiler():
            driver.install()
            found["cuda (emulated)"] = measure("cuda")
    if given.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    for device, rows in found.items():
        for name, row in rows.items():
            figures = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in row.items())
            sys.stdout.write(f"{device:16} {name:32} {figures}\n")


if __name__ == "__main__":
    main()
