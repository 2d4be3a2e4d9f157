"""Plans and rules as plain data, for JSON files and traces."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from semira.base.errors import InvalidValue
from semira.contract import (
    Choose,
    Compare,
    Const,
    Count,
    Method,
    Plan,
    Previous,
    Reason,
    Rule,
    Variant,
)
from semira.contract.rule import COUNTS
from semira.plan.expressions import SIGNS

#: Kinds of rules: the word that marks them, and their fields.
_KINDS: dict[str, tuple[type, tuple[str, ...]]] = {
    "const": (Const, ("value",)),
    "count": (Count, ("name",)),
    "previous": (Previous, ()),
    "compare": (Compare, ("sign", "left", "right")),
    "choose": (Choose, ("test", "then", "other")),
}
_WORDS = {kind: word for word, (kind, _) in _KINDS.items()}


def rule_to_data(rule: Rule) -> dict[str, Any]:
    """Return `rule` as nested dictionaries.

    Examples
    --------
    >>> from semira.contract import Const
    >>> rule_to_data(Const(2.0))
    {'kind': 'const', 'value': 2.0}
    """
    word = _WORDS[type(rule)]
    data: dict[str, Any] = {"kind": word}
    for name in _KINDS[word][1]:
        value = getattr(rule, name)
        data[name] = rule_to_data(value) if type(value) in _WORDS else value
    return data


def rule_from_data(data: Any) -> Rule:
    """Return the rule that `rule_to_data` wrote.

    Raises
    ------
    InvalidValue
        `data` is not a rule.
    """
    word = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(word, str) or word not in _KINDS:
        raise InvalidValue(f"{data!r} is not a rule: its kind must be one of {', '.join(_KINDS)}")
    kind, fields = _KINDS[word]
    if set(data) != {"kind", *fields}:
        raise InvalidValue(f"a rule of kind {word!r} has the fields {fields}; found {sorted(data)}")
    values = [
        rule_from_data(data[name]) if isinstance(data[name], dict) else data[name]
        for name in fields
    ]
    rule: Rule = kind(*values)
    _check_leaf(rule, data)
    return rule


def _check_leaf(rule: Rule, data: Any) -> None:
    """Check what the constructor of a rule takes on trust."""
    if isinstance(rule, Const):
        fits = type(data["value"]) in (int, float)
    elif isinstance(rule, Count):
        fits = rule.name in COUNTS
    elif isinstance(rule, Compare):
        fits = rule.sign in SIGNS and {type(rule.left), type(rule.right)} <= _WORDS.keys()
    elif isinstance(rule, Choose):
        fits = {type(rule.test), type(rule.then), type(rule.other)} <= _WORDS.keys()
    else:
        fits = True
    if not fits:
        raise InvalidValue(f"{data!r} is not a rule; write one with rule_to_data")


def plan_to_data(plan: Plan) -> dict[str, Any]:
    """Return `plan` as dictionaries, lists, text and numbers."""
    return {
        "family": plan.family,
        "methods": [asdict(method) for method in plan.methods],
        "rule": rule_to_data(plan.rule),
        "out_storage": plan.out_storage,
        "policy": plan.policy,
        "reasons": [{"code": given.code, "figures": list(given.figures)} for given in plan.reasons],
        "ordered": plan.ordered,
    }


def plan_from_data(data: Any) -> Plan:
    """Return the plan that `plan_to_data` wrote.

    Raises
    ------
    InvalidValue
        `data` is not a plan; the message says which part is missing or unknown.
    """
    try:
        fields = dict(data)
        fields["methods"] = tuple(_method_from_data(method) for method in fields["methods"])
        fields["rule"] = rule_from_data(fields["rule"])
        fields["reasons"] = tuple(
            Reason(given["code"], tuple(given["figures"])) for given in fields["reasons"]
        )
        return Plan(**fields)
    except InvalidValue:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValue(f"this is not a plan: {error}; write one with plan_to_data") from error


def _method_from_data(data: dict[str, Any]) -> Method:
    full = data.get("full", "")
    if not isinstance(full, str):
        raise ValueError(f"full is {full!r}, which is no balance")
    given = tuple((name, value) for name, value in data.get("parameters", ()))
    variants = tuple(
        Variant(each["name"], tuple(each["figures"])) for each in data.get("variants", ())
    )
    return Method(**{**data, "variants": variants, "parameters": given})


def plan_to_json(plan: Plan) -> str:
    """Return `plan` as one line of JSON."""
    return json.dumps(plan_to_data(plan))


def plan_from_json(text: str) -> Plan:
    """Return the plan that `plan_to_json` wrote.

    Raises
    ------
    InvalidValue
        `text` is not JSON, or not a plan.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidValue(f"this is not JSON: {error}; write plans with plan_to_json") from error
    return plan_from_data(data)
