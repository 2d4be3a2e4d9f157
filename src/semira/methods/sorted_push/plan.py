"""When a push lists its products: only a pin asks for it (decision 30)."""

from semira.contract import MethodRow, Statement
from semira.plan.rules_storage import parameters_of

#: Ways to merge the list.
_MERGES = ("radix", "sort", "scatter")


def _merge(statement: Statement) -> str:
    return str(dict(parameters_of(statement))["merge"])


def _obstacle(statement: Statement) -> str:
    """Say why a push cannot list its products; of a scatter, why one may not stand for all.

    Any of them may for ``any``. For an idempotent monoid one may if all are equal.
    """
    merge, monoid = _merge(statement), statement.operator.monoid
    if statement.hints.queue is not None:
        return f"push merging by {merge} has no queue"
    may_stay = monoid.is_idempotent and statement.operator.has_equal_products
    if merge != "scatter" or monoid.is_any or may_stay:
        return ""
    return (
        f"scatter keeps one of the products that meet, and {statement.operator!r} has to add "
        "them up; radix, sort and atomics do"
    )


def _unordered(statement: Statement) -> frozenset[str]:
    """Return where which product stays is a matter of threads; sorts are stable."""
    return frozenset({"cuda"} if _merge(statement) == "scatter" else ())


ROWS = (
    MethodRow(
        name="sorted_push",
        ops=("mxv", "vxm"),
        instead_of=("push",),
        walks="the lists of the frontier, of which one of all products is made first",
        balance="edges",
        because="a frontier's degrees differ widely",
        parameters={"merge": _MERGES},
        aliases={("merge", name): {"merge": name} for name in _MERGES},
        masks_late=True,
        keeps=(),
        fused=False,
        unordered=_unordered,
        obstacle=_obstacle,
    ),
)
