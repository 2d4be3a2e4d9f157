"""When dot products look columns up in sets: only a pin asks for it (decision 39)."""

from semira.contract import MethodRow, Statement
from semira.plan.rules_storage import parameters_of

_KINDS = ("hash", "bitmap")


def _obstacle(statement: Statement) -> str:
    """Say why bits do not tell enough; empty if they do, or if a table is asked for."""
    if dict(parameters_of(statement))["kind"] != "bitmap":
        return ""
    if not statement.operator.binaryop.reads_a:
        return ""
    return (
        f"bits say that an entry is there, not where, and {statement.operator.binaryop} reads "
        "the values of the left operand"
    )


ROWS = (
    MethodRow(
        name="sets",
        ops=("mxm",),
        instead_of=("dot",),
        walks="sets of the left one's rows, in which columns of the right one are looked up",
        balance="rows",
        because="entries of the mask in one row share a set",
        parameters={"kind": _KINDS},
        aliases={("intersect", kind): {"kind": kind} for kind in _KINDS},
        keeps=(),
        obstacle=_obstacle,
    ),
)
