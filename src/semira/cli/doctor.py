"""``semira doctor``: what is installed, which devices work, what the cache holds."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from semira.base.errors import GraphblasException
from semira.base.memory import available_bytes, in_bytes
from semira.base.options import config_file
from semira.base.settings import DEVICES, settings
from semira.cli.graphs import why_unusable
from semira.cli.options import JsonOption
from semira.cli.output import print_json, print_pairs, print_table, seconds

#: Distribution, what Semira uses it for, and whether it is required.
PACKAGES = (
    ("numpy", "arrays", True),
    ("scipy", "building matrices", True),
    ("llvmlite", "kernels of the cpu", True),
    ("numba", "Python functions and records on the cpu", True),
    ("typer", "this program", True),
    ("rich", "tables", True),
    ("matplotlib", "--plot and the demo's report: pip install 'semira[plot]'", False),
    ("networkx", "io.from_networkx: pip install 'semira[networkx]'", False),
    ("pandas", "io.from_pandas: pip install 'semira[pandas]'", False),
    ("pyarrow", "io.from_arrow: pip install 'semira[arrow]'", False),
    ("sparse", "io.from_pydata_sparse: pip install 'semira[sparse]'", False),
    ("awkward", "io.from_awkward: pip install 'semira[awkward]'", False),
    ("pooch", "datasets: pip install 'semira[datasets]'", False),
    ("cuda-core", "cuda: pip install 'semira[cuda13]'", False),
    ("cupy-cuda13x", "cuda: pip install 'semira[cuda13]'", False),
    ("nvidia-cuda-nvrtc", "cuda: pip install 'semira[cuda13]'", False),
    ("nvidia-nvjitlink", "cuda: pip install 'semira[cuda13]'", False),
)


def _installed() -> list[dict[str, Any]]:
    found = []
    for name, purpose, is_required in PACKAGES:
        try:
            version: str | None = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = None
        what = purpose if version is None else purpose.partition(": pip install")[0]
        found.append({"package": name, "version": version, "required": is_required, "for": what})
    return found


def _check_device(name: str) -> dict[str, Any]:
    """Open a device and let it compute one product whose result is known."""
    why_not = why_unusable(name)
    if why_not is not None:
        return {"device": name, "usable": False, "first_s": None, "detail": why_not}
    from semira import Matrix, Vector, device

    start_s = time.perf_counter()
    try:
        with device(name):
            matrix = Matrix.from_coo([0, 0, 1], [1, 2, 2], [2.0, 9.0, 3.0], nrows=3, ncols=3)
            start = Vector.from_coo([0, 1], [0.0, 2.0], size=3)
            answer = start.vxm(matrix, "min_plus").new().to_dict()
    except (GraphblasException, ImportError, OSError) as error:
        detail = f"{type(error).__name__}: {error}"
        return {"device": name, "usable": False, "first_s": None, "detail": detail}
    is_right = answer == {1: 2.0, 2: 5.0}
    detail = "a small product is right" if is_right else f"a small product is wrong: {answer}"
    elapsed_s = time.perf_counter() - start_s
    return {"device": name, "usable": is_right, "first_s": elapsed_s, "detail": detail}


def _cache_state() -> dict[str, Any]:
    folder = settings().cache_dir
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return {
        "folder": str(folder),
        "exists": folder.is_dir(),
        "writable": _is_writable(folder),
        "kernels": sum(path.suffix in (".nbc", ".o", ".cubin") for path in files),
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
    }


def _is_writable(folder: Path) -> bool:
    """Return whether files can be made in `folder`, or the folder itself can be made."""
    nearest = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def diagnose() -> dict[str, Any]:
    """Return everything that `doctor` shows."""
    from semira import __version__

    in_force = settings()
    return {
        "semira": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "threads": in_force.threads,
        "free_memory": available_bytes(),
        "default_device": in_force.device,
        "no_compile": in_force.no_compile,
        "options_file": str(config_file()),
        "data_dir": str(in_force.data_dir),
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith("SEMIRA_")
        },
        "packages": _installed(),
        "devices": [_check_device(name) for name in DEVICES],
        "cache": _cache_state(),
    }


def _clear_cache() -> None:
    """Remove the kernels of the cache folder, and nothing that Semira did not put there."""
    import shutil

    for room in ("cpu", "cuda"):
        shutil.rmtree(settings().cache_dir / room, ignore_errors=True)


def doctor(
    json: JsonOption = False,
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="First remove all compiled kernels of this user.")
    ] = False,
) -> None:
    """Show what is installed, which devices work and the state of the kernel cache.

    Each device computes one small product and its result is compared. The exit code is 1 if the
    default device does not work.

    Examples
    --------
    semira doctor
    semira doctor --json
    semira doctor --clear-cache
    """
    if clear_cache:
        _clear_cache()
    state = diagnose()
    if json:
        print_json(state)
    else:
        _show(state)
    works = {row["device"]: row["usable"] for row in state["devices"]}
    if not works[state["default_device"]]:
        raise typer.Exit(1)


def _show(state: dict[str, Any]) -> None:
    names = (
        "semira", "python", "system", "executable", "threads", "default_device", "options_file",
        "data_dir",
    )  # fmt: skip
    pairs = [(name.replace("_", " "), str(state[name])) for name in names]
    free = state["free_memory"]
    pairs.append(("free memory", "not told" if free is None else in_bytes(free)))
    print_pairs([*pairs, *state["environment"].items()])
    print_table(
        ("device", "works", "first call", "detail"),
        [
            (row["device"], row["usable"], seconds(row["first_s"]), row["detail"])
            for row in state["devices"]
        ],
    )
    print_table(
        ("package", "version", "for"),
        [
            (row["package"], row["version"] or ("MISSING" if row["required"] else None), row["for"])
            for row in state["packages"]
        ],
    )
    cache = state["cache"]
    print_pairs(
        [
            ("kernel cache", cache["folder"]),
            ("writable", cache["writable"]),
            ("kernels", cache["kernels"]),
            ("size", f"{cache['bytes'] / 2**20:.1f} MiB in {cache['files']} files"),
        ]
    )
