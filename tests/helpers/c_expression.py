"""A tiny evaluator of C expressions: what a rule rendered to CUDA means, without a compiler."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from pycparser import c_ast, c_parser

_BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_INTRINSICS = {"__dmul_rn": operator.mul}


def evaluate_c(text: str, variables: Mapping[str, float]) -> float:
    """Return the value of a C expression of doubles; only the operands C would read are read."""
    parsed = c_parser.CParser().parse(f"double f(void) {{ return {text}; }}")
    return float(_value(parsed.ext[0].body.block_items[0].expr, variables))


def _value(node: c_ast.Node, variables: Mapping[str, float]) -> float:
    kind = type(node)
    if kind is c_ast.Constant:
        assert node.type == "double", f"{node.value} is not a double: C would divide or wrap"
        return float(node.value)
    if kind is c_ast.ID:
        return variables[node.name]
    if kind is c_ast.Cast:
        assert node.to_type.type.type.names == ["double"]
        return float(_value(node.expr, variables))
    if kind is c_ast.TernaryOp:
        taken = node.iftrue if _value(node.cond, variables) else node.iffalse
        return _value(taken, variables)
    if kind is c_ast.UnaryOp and node.op == "-":
        return -_value(node.expr, variables)
    if kind is c_ast.FuncCall:
        sides = (_value(side, variables) for side in node.args.exprs)
        return _INTRINSICS[node.name.name](*sides)
    assert kind is c_ast.BinaryOp, f"unexpected C: {node}"
    return _binary(node, variables)


def _binary(node: c_ast.BinaryOp, variables: Mapping[str, float]) -> float:
    left = _value(node.left, variables)
    if node.op == "&&":
        return bool(left) and bool(_value(node.right, variables))
    if node.op == "||":
        return bool(left) or bool(_value(node.right, variables))
    return _BINARY[node.op](left, _value(node.right, variables))
