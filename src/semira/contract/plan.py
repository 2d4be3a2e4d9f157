"""Plans: the admissible methods of a statement, the rule between them, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from semira.base.shown import Shown
from semira.contract.rule import Const, Rule


@dataclass(frozen=True, slots=True)
class Variant:
    """Another pull that may take a method's place at a launch."""

    #: One of `VARIANTS`.
    name: str
    #: See `VariantRow.figures`.
    figures: tuple[float, ...] = ()


#: Bytes that a thread loads or stores at a time.
_LOAD = 16


def packs_of(ncols: int, itemsize: int) -> int:
    """Return how often a row is loaded from, in as many columns as lie together.

    Examples
    --------
    >>> packs_of(64, 8), packs_of(7, 8), packs_of(1250, 4)
    (32, 7, 625)
    """
    across = max(1, min(4, _LOAD // itemsize))
    while ncols % across:
        across //= 2
    return ncols // across


#: Ways in which the two lists of a dot product meet, as a caller may pin them: both are read once
#: (``merge``), or the longer one is searched (``search``). Methods with folders have others.
INTERSECTIONS = ("merge", "search")


@dataclass(frozen=True, slots=True, repr=False)
class Method(Shown):
    """One way to run a statement."""

    #: ``push``, ``pull``; ``dot``, ``hash``, ``dense``, ``pull`` of ``mxm``; ``direct`` where there
    #: is one way.
    name: str
    #: One of "before", "after", "none". When the mask is looked at, relative to the multiplication.
    mask_order: str = "none"
    #: Stop a row at the monoid's terminal value, or at the first operand for ``any``.
    early_exit: bool = False
    #: The multiplication ignores the matrix' values: do not load them.
    structure_only: bool = False
    #: Read the mask in place of the operand.
    operand_reuse: bool = False
    #: One of "csr", "csc", "none". Which orientation of the matrix (as stored, before
    #: ``transposed``) it walks.
    orientation: str = "none"
    #: What of that orientation it walks: ``compressed`` lines, ``columns`` of the left operand of
    #: ``mxm``, or what a method with a folder makes of it, by its name (`semira.methods`).
    storage: str = "compressed"
    #: How work is shared out: ``edges`` (each worker gets as many entries), ``rows`` (by the length
    #: of each row), ``thread``, ``warp`` or ``block`` (one of them a row), ``positions`` (a thread
    #: for each position of the vector, with an entry or not), ``pieces`` (a thread a row, or a
    #: piece of one that is long), ``serial``.
    balance: str = "serial"
    #: One of "global", "block", "none". Where workers that push ask for places in the list of what
    #: they find; none: the backend's own way.
    queue: str = "none"
    #: What `balance` is of ``mxm`` whose right operand has every entry; empty: the same.
    full: str = ""
    #: What may take its place where a launch finds that it pays.
    variants: tuple[Variant, ...] = ()
    #: One of `INTERSECTIONS`, if dot products were told how their lists meet; else "".
    intersect: str = ""
    #: Those of the method in `storage`, by name.
    parameters: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        parts = [self.name]
        of = "" if self.orientation == "none" else self.orientation
        if self.storage != "compressed":
            given = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
            walked = f"{self.storage}({given})" if given else self.storage
            parts.append(f"walks {walked}{f' of {of}' * bool(of)}")
        elif of:
            parts.append(f"walks {of}")
        if self.mask_order != "none":
            parts.append(f"mask {self.mask_order}")
        parts.append(f"work shared by {self.balance}")
        if self.intersect:
            parts.append(f"lists meet by {self.intersect}")
        if self.queue != "none":
            parts.append(f"places asked for by {self.queue}")
        flags = ("early_exit", "structure_only", "operand_reuse")
        parts += [flag.replace("_", " ") for flag in flags if getattr(self, flag)]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a choice was made: a sentence of `plan.reasons`, and its figures."""

    code: Enum
    figures: tuple[float | str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Shown):
    """How a statement will run."""

    #: The operation.
    family: str
    #: Admissible methods; `rule` picks one by index.
    methods: tuple[Method, ...] = (Method("direct"),)
    rule: Rule = Const(0.0)
    #: One of "auto", "sparse", "bitmap", "full". Storage of an output vector.
    out_storage: str = "auto"
    #: Name of the switch policy the rule comes from.
    policy: str = ""
    reasons: tuple[Reason, ...] = ()
    #: Operands are to be added up in an order that is the same in every run.
    ordered: bool = False

    def __str__(self) -> str:
        lines = [f"  method   {method}" for method in self.methods]
        lines += [f"  picked   by the policy {self.policy}"] * (len(self.methods) > 1)
        return "\n".join([f"plan of {self.family}", *lines, f"  output   {self.out_storage}"])
