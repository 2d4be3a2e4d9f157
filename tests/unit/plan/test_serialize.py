"""Plans survive JSON, and what is not a plan is refused."""

import json

import pytest
from tests.helpers.plans import plan_of, product

from semira.base.errors import InvalidValue
from semira.contract import Hints, Plan
from semira.plan import POLICIES, plan_from_data, plan_from_json, plan_to_data, plan_to_json
from semira.plan.serialize import rule_from_data, rule_to_data

PLANS = [
    *(plan_of(product(), policy=policy) for policy in POLICIES),
    plan_of(product("mxm")),
    plan_of(product("vxm", "min_plus[FP64]"), hints=Hints(vector_storage="full", early_exit=False)),
    Plan("nvals"),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.family}-{plan.policy}")
def test_plan_survives_json(plan):
    assert plan_from_json(plan_to_json(plan)) == plan
    assert plan_from_data(json.loads(json.dumps(plan_to_data(plan)))) == plan
    assert rule_from_data(rule_to_data(plan.rule)) == plan.rule


def broken(change):
    data = plan_to_data(PLANS[0])
    change(data)
    return data


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"family": "vxm"},
        broken(lambda data: data.update(colour="red")),
        broken(lambda data: data.update(rule=None)),
        broken(lambda data: data.update(rule={"kind": "guess"})),
        broken(lambda data: data.update(rule={"kind": ["const"]})),
        broken(lambda data: data.update(rule={"kind": "const", "value": "1"})),
        broken(lambda data: data.update(rule={"kind": "const", "value": True})),
        broken(lambda data: data.update(rule={"kind": "const"})),
        broken(lambda data: data.update(rule={"kind": "count", "name": "edges"})),
        broken(lambda data: data["rule"].update(then=1.0)),
        broken(lambda data: data["rule"]["test"].update(sign="/")),
        broken(lambda data: data["methods"].append({"name": "push", "speed": 3})),
        broken(lambda data: data["reasons"].append({"code": 1})),
        broken(lambda data: data.update(reasons=3)),
    ],
)
def test_other_data_is_refused(data):
    with pytest.raises(InvalidValue):
        plan_from_data(data)


def test_other_text_is_refused():
    with pytest.raises(InvalidValue, match="not JSON"):
        plan_from_json("push")
