"""Kernels of the scripts in ``benchmarks/scripts/`` on the emulated GPU."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.helpers.emulated import build, driver

BENCH = Path(__file__).resolve().parents[3] / "benchmarks" / "scripts"


@functools.cache
def study(name: str) -> ModuleType:
    """Return a script of ``benchmarks/scripts/`` as a module."""
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@functools.cache
def kernels_of(name: str) -> driver.HostCode:
    """Return the kernels of a script, compiled for the host."""
    code = build.compile_for_host(study(name).source(), "study", "host").code
    return driver.HostCode.from_cubin(code)
