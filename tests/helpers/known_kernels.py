"""Digests of the kernels that are known to compile.

``tests/conformance/known_kernels.txt`` holds one digest for each generated text, below a heading
for the kernel library that it was compiled with. A kernel whose digest is there, below the heading
of today's library, was accepted by the compiler. ``make kernels ARGS=--record`` writes the file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.kernels import Kernel

from semira.backends.cuda.jit.cache import digest
from semira.backends.cuda.jit.render import kernel_library

FILE = Path(__file__).resolve().parents[1] / "conformance" / "known_kernels.txt"

#: Characters of a digest: two of 3,000 texts meet with a probability of one in 60 million.
LENGTH = 12

#: Names of files, which change nothing but messages; they may move.
_PLACES = re.compile(r'^#line 1 ".*"\n', re.MULTILINE)


@functools.cache
def library_digest(root: str, options: str) -> str:
    """Return the digest of the files that `root` includes, and of the compiler's options."""
    return digest(options, _PLACES.sub("", kernel_library(root)))[:LENGTH]


def text_digest(kernel: Kernel) -> str:
    """Return the digest of what was generated for a kernel."""
    return digest(kernel.source)[:LENGTH]


@dataclass(frozen=True)
class Known:
    """Kernels that passed a check.

    Attributes
    ----------
    digests : dict of str to frozenset of str
        Digests of texts, by heading.
    """

    digests: dict[str, frozenset[str]]

    @classmethod
    def of(cls, kernels: Iterable[Kernel], heading: Callable[[Kernel], str]) -> Known:
        """Return what holds some kernels."""
        found: dict[str, set[str]] = {}
        for kernel in kernels:
            found.setdefault(heading(kernel), set()).add(text_digest(kernel))
        return cls({name: frozenset(each) for name, each in found.items()})

    @classmethod
    def read(cls, path: Path = FILE) -> Known:
        """Return what a file holds; nothing if there is none."""
        return cls.parse(path.read_text()) if path.is_file() else cls({})

    @classmethod
    def parse(cls, text: str) -> Known:
        """Return what the text of a file holds."""
        found: dict[str, set[str]] = {}
        name = ""
        for line in text.splitlines():
            if line.startswith("[") and line.endswith("]"):
                name = line[1:-1]
                found[name] = set()
            elif line and not line.startswith("#"):
                found[name].add(line)
        return cls({name: frozenset(each) for name, each in found.items()})

    def write(self, path: Path = FILE) -> None:
        """Write a file, sorted: the same kernels give the same bytes."""
        lines = ["# Kernels that compile; written by: make kernels ARGS=--record"]
        for name, digests in sorted(self.digests.items()):
            lines += [f"[{name}]", *sorted(digests)]
        path.write_text("\n".join(lines) + "\n")

    def holds(self, kernel: Kernel, heading: str) -> bool:
        """Return whether a kernel is among them."""
        return text_digest(kernel) in self.digests.get(heading, ())

    def __or__(self, other: Known) -> Known:
        """Return both together."""
        names = self.digests.keys() | other.digests.keys()
        empty: frozenset[str] = frozenset()
        either = {
            name: self.digests.get(name, empty) | other.digests.get(name, empty) for name in names
        }
        return Known(either)


def some(kernels: Sequence[Kernel], count: int) -> list[Kernel]:
    """Return `count` kernels, others whenever any of the texts changes."""
    seed = digest(*sorted(kernel.key for kernel in kernels))
    return sorted(kernels, key=lambda kernel: digest(seed, kernel.key))[:count]


def differences(before: Known, now: Known) -> Iterator[str]:
    """Yield what differs: a line for each library that changed, and for texts that did."""
    old, new = _by_root(before), _by_root(now)
    for root in sorted(old.keys() | new.keys()):
        if root not in old or root not in new:
            yield f"{root}: {'new' if root in new else 'gone'}"
            continue
        (library, texts), (other, others) = old[root], new[root]
        if library != other:
            yield f"{root}: its library or the options changed"
        if texts != others:
            yield f"{root}: {len(others - texts)} texts are new, {len(texts - others)} are gone"


def _by_root(known: Known) -> dict[str, tuple[str, frozenset[str]]]:
    """Return the digest of the library, and those of the texts, without it in the key."""
    parts = ((*name.rpartition(": ")[::2], digests) for name, digests in known.digests.items())
    return {root: (library, digests) for root, library, digests in parts}
