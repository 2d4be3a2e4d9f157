"""How the lists of dot products meet: the pin, what it excludes, and what `explain` says."""

from __future__ import annotations

import re

import pytest

from semira.backends.cuda.backend import CAPABILITIES as CUDA
from semira.backends.registry import backend_for
from semira.base.dtypes import FP64, INT64
from semira.base.errors import PlanError
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement
from semira.ops.registry import semiring
from semira.plan import explain_statement, plan_program

CPU = backend_for("cpu").capabilities()
PLAIN = Mask(2, structural=True, complement=False)


def planned(name="plus_pair", dtype=INT64, capabilities=CUDA, mask=PLAIN, **pins) -> Statement:
    typed = semiring[name].typed(dtype)
    slots = (*[Slot("matrix", dtype)] * 3, Slot("matrix", typed.return_type))
    product = Statement("mxm", 3, (Arg(0), Arg(1)), typed, mask, hints=Hints(**pins))
    return plan_program(Program(slots, (product,)), capabilities).body[0]


def reasons(statement: Statement) -> str:
    return "\n".join(explain_statement(statement).reasons)


@pytest.mark.parametrize("intersect", ["merge", "search"])
def test_a_pin_leaves_dot_products_alone(intersect):
    statement = planned(intersect=intersect)
    assert [method.name for method in statement.plan.methods] == ["dot"]
    assert statement.plan.methods[0].intersect == intersect
    assert f"meet by {intersect}: intersect is pinned" in reasons(statement)
    assert f"lists meet by {intersect}" in str(explain_statement(statement))


def test_the_rule_is_said_where_there_is_a_choice():
    said = reasons(planned())
    assert "the longer one searched; in a product of which only the sum is asked" in said
    assert "one is more than 31 times as long as the other, or 7 times where" in said
    assert "list of a dot product" not in reasons(planned(capabilities=CPU))
    assert "list of a dot product" not in reasons(planned(mask=None))


@pytest.mark.parametrize("kind", ["hash", "bitmap"])
def test_a_pinned_set_is_a_method_of_dot_products(kind):
    statement = planned(intersect=kind)
    (method,) = statement.plan.methods
    assert (method.name, method.storage, method.intersect) == ("dot", "sets", "")
    assert method.parameters == (("kind", kind),)
    assert f"intersect='{kind}' is pinned" in reasons(statement)
    assert "list of a dot product" not in reasons(statement)
    by_name = planned(method="sets", parameters=(("kind", kind),))
    assert by_name.plan.methods == statement.plan.methods


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"name": "plus_times", "dtype": FP64, "intersect": "bitmap"}, "there, not where"),
        ({"capabilities": CPU, "intersect": "merge"}, "cannot let lists meet by 'merge'"),
        ({"capabilities": CPU, "intersect": "hash"}, "cpu cannot run intersect='hash'"),
        ({"method": "sets", "intersect": "merge"}, "intersect='merge' is no parameter"),
        ({"mask": None, "intersect": "hash"}, "dot needs a mask"),
        ({"method": "hash", "intersect": "hash"}, "hash has no two lists"),
        ({"intersect": "galloping"}, "'merge', 'search', 'hash', 'bitmap'"),
    ],
)
def test_a_pin_that_cannot_be_met(how, why):
    with pytest.raises(PlanError, match=re.escape(why)):
        planned(**how)
