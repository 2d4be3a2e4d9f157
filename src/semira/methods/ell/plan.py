"""When padded rows are walked: only a pin asks for them (decision 29)."""

from semira.contract import MethodRow

_WALKS = {
    "ell": "rows padded to the width of the longest",
    "ellr": "rows padded to the width of the longest, with their lengths",
    "pell": "rows padded to the width of the longest, rounded up to a multiple of 4",
    "sell": "slices of rows, each padded to the width of its longest",
}

ROWS = (
    *(
        MethodRow(
            name=name,
            ops=("mxv", "vxm"),
            instead_of=("pull",),
            walks=words,
            balance="thread",
            because="neighbours read neighbouring words of their rows",
        )
        for name, words in _WALKS.items()
    ),
    *(
        MethodRow(
            name=name,
            ops=("mxm",),
            instead_of=("dense", "hash"),
            walks=f"the left one's {words}",
            balance="rows",
            because="neighbouring rows are read together",
            masks_late=True,
        )
        for name, words in _WALKS.items()
    ),
)
