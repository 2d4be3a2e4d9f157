"""Programs: statements over typed slots, and loops over statements.

A Program is structure only. Sizes, pointers, literals and index arrays are bound when it is
executed, so one prepared Program serves every source vertex and every graph of its class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from semira.base.dtypes import DataType
from semira.base.shown import Shown
from semira.contract.hints import Hints
from semira.contract.plan import Plan

#: The operations, and the kinds of their arguments.
#:
#: ``w`` is the output; ``A`` a matrix, ``u`` a vector, ``s`` a scalar, ``x`` any of the three.
#:
#: =============  =========================  =====================================================
#: op             arguments                  meaning
#: =============  =========================  =====================================================
#: mxv            A, u                       w = A (+).(*) u;   multiply(A_ij, u_j)
#: vxm            u, A                       w = u (+).(*) A;   multiply(u_i, A_ij)
#: mxm            A, B                       C = A (+).(*) B
#: ewise_add      x, x                       union; entries of one side pass unchanged
#: ewise_mult     x, x                       intersection
#: ewise_union    x, x, s, s                 union with defaults for missing entries
#: apply          x  or  x, s  or  s, x      unary; binary with a bound scalar; index-unary, thunk
#: select         x, s                       keep entries where op(a, i, j, s) is true
#: select_k       A                          first `k` entries of each row, or `largest`
#: reduce_rows    A                          w_i = sum of row i (columns: A transposed)
#: mode_rows      A, u[, v][, s]             w_i = the u_j with the largest sum of A_ij in row i
#: reduce         u or A                     scalar; empty if there are no entries, unless the
#:                                           parameter `identity` is true
#: copy           x                          cast and transpose
#: assign         x or s                     regions, see `IndexSpec`; out[rows, cols] = x
#: extract        u or A                     w = u[rows];  C = A[rows, cols]
#: gather         u, index                   w_i = u[index_i]: entries of `index` name positions
#: scatter        u, index                   w_{index_i} = u_i, equal targets folded by `dup`
#: nvals          x                          scalar INT64: number of entries
#: diag           u or A                     A = diag(u, k);  w = diag(A, k);  A_{i, u_i} = true
#: =============  =========================  =====================================================
OPS = (
    "mxv", "vxm", "mxm", "ewise_add", "ewise_mult", "ewise_union", "apply", "select", "select_k",
    "reduce_rows", "mode_rows", "reduce", "copy", "assign", "extract", "gather", "scatter", "nvals",
    "diag",
)  # fmt: skip

#: Those that multiply: the operations with a semiring.
PRODUCTS = ("mxv", "vxm", "mxm")

#: Methods of the core for each product, the preferred one first where no count decides.
CORE_METHODS = {
    "mxv": ("push", "pull"),
    "vxm": ("push", "pull"),
    "mxm": ("dot", "dense", "hash", "pull"),
}

KINDS = ("matrix", "vector", "scalar", "index")


@dataclass(frozen=True, slots=True)
class Slot:
    """A symbol of a Program."""

    #: One of "matrix", "vector", "scalar", "index". ``index`` slots are bound to an index region: a
    #: ``(start, stop, step)`` tuple or an array of positions.
    kind: str
    dtype: DataType
    #: One of "input", "output", "inout", "temp". A ``temp`` is made by the executable and dropped
    #: at the end of the iteration; it is born in a statement with the parameter ``new``.
    role: str = "input"
    #: Only for ``temp``: where each dimension comes from: a slot bound to an object and which of
    #: its dimensions, an index slot (its length), or a fixed number.
    shape: tuple[tuple[int, int] | int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Arg:
    """A use of a slot as an operand, possibly transposed."""

    slot: int
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class Mask:
    """Where results may be written."""

    slot: int
    #: Presence counts; else the value must also be true.
    structural: bool
    #: Write where the mask is *not* set.
    complement: bool


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """How one axis is indexed: ``all``, ``range`` or ``list``; the numbers are in `slot`.

    `kind` ``one`` is a list of a single position whose axis disappears (``A[i, :]``).
    """

    kind: str
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """``out<mask, replace> accum= op(args)``."""

    #: One of `OPS`.
    op: str
    #: Slot written.
    out: int
    args: tuple[Arg, ...]
    #: A TypedOp, TypedMonoid or TypedSemiring, or None.
    operator: Any = None
    mask: Mask | None = None
    #: A TypedOp or None.
    accum: Any = None
    replace: bool = False
    #: For assign and extract, one per axis.
    indices: tuple[IndexSpec, ...] = ()
    #: Further structural facts: ``side`` ("left"/"right" of a bound scalar), ``k``, ``largest``
    #: (`select_k` keeps the largest values, NaN last, ties by the smaller column), ``by_value``
    #: (`diag` puts true at row i and column u_i), ``identity``, ``submask`` (the mask has the shape
    #: of the region), ``dup`` (TypedMonoid), ``prefers``, ``draws`` and ``counts`` (`mode_rows` has
    #: keys that win ties, a seed, and counts entries), ``new`` (the output is a fresh temporary).
    params: tuple[tuple[str, Any], ...] = ()
    #: What the caller pinned.
    hints: Hints = Hints()
    #: Filled in by the planner.
    plan: Plan | None = None

    def param(self, name: str, default: Any = None) -> Any:
        """Return the parameter `name`."""
        return dict(self.params).get(name, default) if self.params else default


@dataclass(frozen=True, slots=True)
class Solo:
    """When one worker runs iterations of a loop alone: what it costs to wait for the others."""

    #: Items that an iteration walks: from fewer than `enter` on one worker runs them, until there
    #: are more than `leave`.
    enter: int
    leave: int


@dataclass(frozen=True, slots=True)
class Loop:
    """Run `bodies` in turn until `conditions` of the body just run is false or empty."""

    #: More than one if the recorded body rebinds objects (``p, q = q, p``): iteration t runs body
    #: ``t % len(bodies)``.
    bodies: tuple[tuple[Statement | Loop, ...], ...]
    #: Slot of the BOOL scalar that says "go on", per body; None: run to the limit.
    conditions: tuple[int | None, ...]
    #: Slot of the INT64 scalar with the largest number of iterations.
    limit: int
    #: The caller chose the limit: reaching it is not an error.
    explicit_limit: bool
    #: Part of the plan, as `Statement.plan` is.
    solo: Solo | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True, repr=False)
class Program(Shown):
    """Slots and the statements over them."""

    slots: tuple[Slot, ...]
    body: tuple[Statement | Loop, ...]

    def __str__(self) -> str:
        return f"program: {_operations(self.body)}"


def _operations(body: tuple[Statement | Loop, ...]) -> str:
    return ", ".join(
        item.op
        if isinstance(item, Statement)
        else f"loop ({'; '.join(map(_operations, item.bodies))})"
        for item in body
    )


def walk_statements(body: tuple[Statement | Loop, ...]) -> Iterator[Statement]:
    """Yield every statement of a body, those of nested loops included, in order."""
    for item in body:
        if isinstance(item, Statement):
            yield item
        else:
            for inner in item.bodies:
                yield from walk_statements(inner)
