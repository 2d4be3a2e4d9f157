"""Semira: GraphBLAS for Python, on the CPU and the GPU.

A graph is a sparse matrix, an algorithm a few lines of sparse linear algebra over a semiring;
the same lines run on a laptop and on an NVIDIA GPU.

>>> import semira as gb
>>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0])
>>> gb.algorithms.bfs(A, 0).level.to_dict()
{0: 0, 1: 1, 2: 2}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semira import agg as agg
    from semira import algorithms as algorithms
    from semira import apps as apps
    from semira import binary as binary
    from semira import datasets as datasets
    from semira import dtypes as dtypes
    from semira import exceptions as exceptions
    from semira import indexbinary as indexbinary
    from semira import indexunary as indexunary
    from semira import io as io
    from semira import kernels as kernels
    from semira import methods as methods
    from semira import monoid as monoid
    from semira import op as op
    from semira import select as select
    from semira import semiring as semiring
    from semira import ss as ss
    from semira import unary as unary
    from semira import viz as viz
    from semira.base.config import config
    from semira.contract.hints import ProductOptions, VectorProductOptions
    from semira.contract.trace import LateRows, TraceRow, lost_rows
    from semira.engine.loops import LoopResult
    from semira.engine.trace import tracing
    from semira.engine.values import beside, device
    from semira.formats.index import MAX_SIZE
    from semira.frontend.estimate import estimate, free_memory
    from semira.frontend.explain import explain
    from semira.frontend.fused import fused
    from semira.frontend.hints import CALL_OPTIONS
    from semira.frontend.kept_loops import Kept, kept_loop
    from semira.frontend.objects import Matrix, Vector
    from semira.frontend.recorder import Recorder
    from semira.frontend.repeat import repeat
    from semira.frontend.scalar import Scalar
    from semira.frontend.startup import backend, init
    from semira.frontend.traits import device_traits
    from semira.frontend.updater import replace

__version__ = "0.1.0"

#: Public modules, and where each public name comes from: both load on first use, so that
#: importing the package costs next to nothing.
_MODULES = (
    "agg",
    "algorithms",
    "apps",
    "binary",
    "datasets",
    "dtypes",
    "exceptions",
    "indexbinary",
    "indexunary",
    "io",
    "kernels",
    "methods",
    "monoid",
    "op",
    "select",
    "semiring",
    "ss",
    "unary",
    "viz",
)
_NAMES = {
    "CALL_OPTIONS": "semira.frontend.hints",
    "LateRows": "semira.contract.trace",
    "LoopResult": "semira.engine.loops",
    "MAX_SIZE": "semira.formats.index",
    "Matrix": "semira.frontend.objects",
    "ProductOptions": "semira.contract.hints",
    "Recorder": "semira.frontend.recorder",
    "Scalar": "semira.frontend.scalar",
    "TraceRow": "semira.contract.trace",
    "Vector": "semira.frontend.objects",
    "VectorProductOptions": "semira.contract.hints",
    "backend": "semira.frontend.startup",
    "config": "semira.base.config",
    "beside": "semira.engine.values",
    "device": "semira.engine.values",
    "device_traits": "semira.frontend.traits",
    "estimate": "semira.frontend.estimate",
    "explain": "semira.frontend.explain",
    "free_memory": "semira.frontend.estimate",
    "fused": "semira.frontend.fused",
    "init": "semira.frontend.startup",
    "Kept": "semira.frontend.kept_loops",
    "kept_loop": "semira.frontend.kept_loops",
    "lost_rows": "semira.contract.trace",
    "repeat": "semira.frontend.repeat",
    "replace": "semira.frontend.updater",
    "tracing": "semira.engine.trace",
}

__all__ = [
    "CALL_OPTIONS",
    "MAX_SIZE",
    "Kept",
    "LateRows",
    "LoopResult",
    "Matrix",
    "ProductOptions",
    "Recorder",
    "Scalar",
    "TraceRow",
    "Vector",
    "VectorProductOptions",
    "backend",
    "beside",
    "config",
    "device",
    "device_traits",
    "estimate",
    "explain",
    "free_memory",
    "fused",
    "init",
    "kept_loop",
    "lost_rows",
    "repeat",
    "replace",
    "tracing",
]


def _found(name: str) -> Any:
    if name in _NAMES:
        found = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = found
        return found
    if name in _MODULES:
        return importlib.import_module(f"semira.{name}")
    raise AttributeError(f"module 'semira' has no attribute {name!r}{_meant(name)}")


def _meant(name: str) -> str:
    """Return the end of the message for a name that is none."""
    if name.startswith("_"):
        return ""
    from semira.base.text import did_you_mean

    for home in ("io", "algorithms", "apps"):
        module = importlib.import_module(f"semira.{home}")
        if name in (module.functions() if home == "apps" else module.__all__):
            return f"; there is semira.{home}.{name}"
    return did_you_mean(name, [*_MODULES, *_NAMES])


if not TYPE_CHECKING:
    # Type checkers know every name from above; this function would hide misspelt ones.
    __getattr__ = _found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_NAMES})
