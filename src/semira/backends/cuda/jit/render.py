"""One translation unit: the kernel library, then what was generated for a Program."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1] / "kernels"

_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


#: What a Program's kernel may call; staged statements have their own.
PROGRAM, STAGED = "semira.cuh", "staged.cuh"
BUILD, FULL, BLOCK = "build/values.cuh", "full.cuh", "block.cuh"

#: Kernels on matrices that know nothing of values, one text for all programs each. A file is
#: compiled when one of its kernels is first started: an algorithm starts few of them.
BASE = (
    "base/blocks.cuh", "base/checks.cuh", "base/counted_rows.cuh", "base/gathers.cuh",
    "base/keys.cuh", "base/labels.cuh", "base/largest.cuh", "base/lengths.cuh", "base/order.cuh",
    "base/pieces.cuh", "base/places.cuh", "base/products.cuh", "base/rows.cuh", "base/shares.cuh",
    "base/sums.cuh", "base/wide_sums.cuh",
)  # fmt: skip


#: Macros of everything compiled from now on: testing aids, such as ``SEMIRA_PERMUTED``.
defines: list[str] = []


def _text_of(name: str) -> str:
    """Return a kernel file: of this back end, or ``package:file`` of a method's folder."""
    package, _, file = name.rpartition(":")
    path = resources.files(package).joinpath(file) if package else KERNELS / file
    return path.read_text(encoding="utf-8").replace("#pragma once\n", "")


def _expanded(text: str, seen: set[str]) -> str:
    """Return a text with the files that it includes, those of `seen` left out."""

    def expand(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in seen:
            return ""
        seen.add(name)
        inner = _text_of(name)
        body = _expanded(inner, seen)
        return f'#line 1 "{name}"\n{body}' if "#include" not in inner else body

    return _INCLUDE.sub(expand, text)


@functools.cache
def _library(root: str) -> tuple[str, frozenset[str]]:
    seen: set[str] = set()
    return _expanded(f'#include "{root}"', seen), frozenset(seen)


def kernels_of(root: str) -> frozenset[str]:
    """Return the names of the kernels that a file of `BASE` defines.

    Examples
    --------
    >>> sorted(kernels_of("base/shares.cuh"))
    ['semira_longest', 'semira_slices']
    """
    return frozenset(re.findall(r"\bsemira_\w+(?=[(,])", _text_of(root)))


def kernel_library(root: str = PROGRAM) -> str:
    """Return the files `root` includes, each once, in the order their includes ask for."""
    return _library(root)[0]


def render_source(generated: str, offset_type: str, root: str = PROGRAM) -> str:
    """Return the source NVRTC compiles: self-contained, no header from outside.

    `generated` is what `lower` wrote for a Program; it includes files of the methods that it runs.
    Offsets into matrix entries are "int" or "long long". The file `root` includes what is called.
    """
    macros = "".join(f"#define {name}\n" for name in defines)
    text = render_text(generated, root)
    return f"{macros}#define SEMIRA_OFFSET {offset_type}\n{kernel_library(root)}\n{text}"


def render_text(generated: str, root: str = PROGRAM) -> str:
    """Return generated source with what a method's folder brings, beside what `root` includes."""
    # A kernel that walks no such format includes none.
    return _expanded(generated, set(_library(root)[1])) if '#include "' in generated else generated
