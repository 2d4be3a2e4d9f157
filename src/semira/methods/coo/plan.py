"""When entries are walked one by one: only a pin asks for it (decision 29)."""

from semira.contract import MethodRow

ROWS = (
    MethodRow(
        name="coo",
        ops=("mxv", "vxm"),
        instead_of=("push",),
        walks="its entries one by one",
        balance="edges",
        because="a worker for each entry of the matrix",
        is_oriented=False,
        keeps=("entry_rows",),
    ),
    MethodRow(
        name="coo",
        ops=("mxm",),
        instead_of=("dense", "hash"),
        walks="the left one's entries by rows",
        balance="edges",
        because="workers take equal shares of the entries",
        masks_late=True,
        keeps=("entry_rows",),
    ),
)
