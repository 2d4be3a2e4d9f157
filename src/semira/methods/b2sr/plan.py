"""When pulls walk tiles of bits: where they are pinned, or cost less than compressed rows do."""

from __future__ import annotations

from semira.contract import Features, MethodRow, Statement
from semira.methods.b2sr.arrays import SIZES
from semira.methods.b2sr.pairs import MONOIDS, kind_of
from semira.methods.b2sr.profile import auto_size, sampled_tiles
from semira.plan.policy import Number

#: Entries of compressed rows that the cpu reads in the time of an 8 x 8 tile.
ENTRIES_A_TILE = Number(
    5,
    "products of half a vector on two cores: 4.5 ns a tile, and 0.7 to 3 ns an entry of rows; near "
    "the smaller one, so that no matrix gets slower (docs/guide/bits.md)",
)

#: Entries from which on tiles are weighed: looking at a sample takes as long as such a product.
LEAST_ENTRIES = Number(2**19, "a sample takes 1 to 2 ms, a product by rows as long")

#: The product of a matrix at which they are weighed.
FROM_PRODUCT = Number(
    32, "making tiles takes 2 to 3 products by rows, less than a tenth of those before"
)


def obstacle(statement: Statement) -> str:
    """Say why tiles do not serve a product of matrices."""
    ring = statement.operator
    if kind_of(ring.monoid, ring.binaryop):
        return ""
    known = ", ".join(name for names in MONOIDS.values() for name in names)
    return f"tiles make bits of pairs, or count them ({known} of pair), not {ring!r}"


def cost(features: Features) -> float | None:
    """Return the cost of the tiles that ``bits="auto"`` takes on the cpu; None of few entries."""
    if features.nvals < LEAST_ENTRIES.value:
        return None
    _, weight = auto_size(sampled_tiles(features.arrays()))
    return ENTRIES_A_TILE.value * weight


def pays(statement: Statement, in_loop: bool) -> bool:
    """Return whether whole words decide: each result is a bit, or a number of bits.

    Inside of loops rows stay: small iterations are one kernel, and few others pull.
    """
    ring = statement.operator
    return not in_loop and bool(kind_of(ring.monoid, ring.binaryop))


ROWS = (
    MethodRow(
        name="b2sr",
        ops=("mxv", "vxm"),
        instead_of=("pull",),
        beside=("push",),
        walks="tiles of bits",
        balance="rows",
        because="lines of a tile are walked together",
        parameters={"bits": ("auto", *SIZES)},
        cost=cost,
        costed_on=("cpu",),
        from_product=int(FROM_PRODUCT.value),
        pays=pays,
    ),
    MethodRow(
        name="b2sr",
        ops=("mxm",),
        instead_of=("dot", "hash"),
        walks="tiles of bits of both operands and of the mask",
        balance="rows",
        because="results of a tile share the lists of tiles that meet",
        parameters={"bits": ("auto", *SIZES[1:])},
        fused=False,
        obstacle=obstacle,
    ),
)
