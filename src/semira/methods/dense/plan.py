"""When every position is walked: only a pin asks for it (decision 31)."""

from semira.contract import MethodRow

ROWS = (
    MethodRow(
        name="dense",
        ops=("mxv", "vxm"),
        instead_of=("pull",),
        walks="every position",
        balance="warp",
        because="neighbours read neighbouring positions of a row",
    ),
)
