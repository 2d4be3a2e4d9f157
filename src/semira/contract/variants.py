"""Variants of a pull: the same product over something that is made of a matrix when that pays.

A folder of `semira.methods` holds each. Its module ``plan`` has a `VariantRow` named ``ROW``; the
module of a back end makes what is read, and writes the pull that reads it. Which variant runs is
found out at each launch.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType

from semira.contract.plan import Method, Variant
from semira.contract.program import Statement

#: Names of the variants, of their folders, of the pins and of the options, in the order in which a
#: launch asks them. Each has its words in ``CompressedDescriptor`` (kernels/common/matrix.cuh).
VARIANTS = ("hot_columns", "diagonals")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VariantRow:
    """A variant of pulls in equal shares, as the planner sees it."""

    #: One of `VARIANTS`; also that of what it keeps with a matrix.
    name: str
    #: What a matrix and the products with it must have for the variant to be tried, in an order
    #: that its folder knows; a pin puts zeros in their place.
    figures: tuple[float, ...]
    #: Takes a statement; returns whether the variant can run it.
    serves: Callable[[Statement], bool]
    #: Takes a method and the variant of it; returns the sentence for `explain`.
    explain: Callable[[Method, Variant], str]


@functools.cache
def has_variant_part(name: str, backend: str) -> bool:
    """Return whether a variant can be run by a back end."""
    return bool(backend) and find_spec(f"semira.methods.{name}.{backend}") is not None


@functools.cache
def variant_part(name: str, backend: str) -> ModuleType:
    """Return the module by which a back end runs a variant."""
    return importlib.import_module(f"semira.methods.{name}.{backend}")
