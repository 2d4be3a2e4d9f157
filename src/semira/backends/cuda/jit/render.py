"""One translation unit: the kernel library, then what was generated for a Program."""

from __future__ import annotations

import functools
import re
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from semira.backends.cuda.jit.cache import digest

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


class _File(NamedTuple):
    """A kernel file."""

    text: str
    includes: tuple[str, ...]
    digest: str


@functools.cache
def _file(name: str) -> _File:
    """Return a kernel file: of this back end, or ``package:file`` of a method's folder."""
    package, _, file = name.rpartition(":")
    path = resources.files(package).joinpath(file) if package else KERNELS / file
    text = path.read_text(encoding="utf-8").replace("#pragma once\n", "")
    return _File(text, _includes_of(text), digest(text))


def _includes_of(text: str) -> tuple[str, ...]:
    # Most of a text is not looked at, as a regular expression would.
    parts = f"\n{text}".split('\n#include "')
    return tuple(part.partition('"')[0] for part in parts[1:])


def _expanded(text: str, seen: set[str]) -> str:
    """Return a text with the files that it includes, those of `seen` left out."""

    def expand(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in seen:
            return ""
        seen.add(name)
        inner = _file(name)
        body = _expanded(inner.text, seen)
        return f'#line 1 "{name}"\n{body}' if not inner.includes else body

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
    return frozenset(re.findall(r"\bsemira_\w+(?=[(,])", _file(root).text))


def kernel_library(root: str = PROGRAM) -> str:
    """Return the files `root` includes, each once, in the order their includes ask for."""
    return _library(root)[0]


@functools.cache
def _files_of(root: str) -> frozenset[str]:
    """Return the names of a file and of all that it includes."""
    return frozenset({root}).union(*map(_files_of, _file(root).includes))


@functools.cache
def _library_digest(root: str) -> str:
    return digest(*(_file(name).digest for name in sorted(_files_of(root))))


def identity(generated: str, offset_type: str, root: str = PROGRAM) -> tuple[str, ...]:
    """Return what decides about the text that `render_source` returns, without rendering it."""
    files = sorted(map(_library_digest, _includes_of(generated)))
    return (*defines, offset_type, root, _library_digest(root), *files, generated)


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
