"""When a product of matrices is cut into equal shares: only a pin asks for it (decision 13)."""

from semira.contract import MethodRow, Statement


def _unordered(statement: Statement) -> frozenset[str]:
    """Return where long rows are added up as the shares come."""
    del statement
    return frozenset({"cuda"})


ROWS = (
    MethodRow(
        name="equal_shares",
        ops=("mxm",),
        instead_of=("hash",),
        walks="the partial products in order, cut into shares of equal size",
        balance="edges",
        because="every block takes as many partial products",
        # With a full right operand it means equal shares of the left one's entries.
        aliases={("balance", "edges"): {}},
        keeps=(),
        fused=False,
        unordered=_unordered,
    ),
)
