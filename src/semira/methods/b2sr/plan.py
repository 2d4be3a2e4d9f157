"""When tiles of bits are walked."""

from semira.contract import MethodRow
from semira.methods.b2sr.arrays import SIZES

ROWS = (
    MethodRow(
        name="b2sr",
        ops=("mxv", "vxm"),
        instead_of=("pull",),
        walks="tiles of bits",
        balance="rows",
        because="lines of a tile are walked together",
        parameters={"bits": (8, *(size for size in SIZES if size != 8))},
    ),
)
