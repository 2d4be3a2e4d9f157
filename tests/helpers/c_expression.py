"""A tiny evaluator of C expressions: what a rule rendered to CUDA means, without a compiler."""

from __future__ import annotations

import functools
import math
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
_CASTS = {"double": float, "int": math.trunc}
_INTRINSICS = {"__dmul_rn": operator.mul}


def evaluate_c(text: str, variables: Mapping[str, float]) -> float:
    """Return the value of a C expression of doubles; only the operands C would read are read."""
    return float(_result(_parsed(text), variables))


@functools.cache
def _parsed(text: str) -> c_ast.Node:
    parsed = c_parser.CParser().parse(f"double f(void) {{ return {text}; }}")
    return parsed.ext[0].body.block_items[0].expr


def _value(node: c_ast.Node, variables: Mapping[str, float]) -> float:
    kind = type(node)
    if kind is c_ast.Constant:
        return _number(node)
    if kind is c_ast.ID:
        return variables[node.name]
    if kind is c_ast.Cast:
        (name,) = node.to_type.type.type.names
        return _CASTS[name](_value(node.expr, variables))
    if kind is c_ast.TernaryOp:
        return _result(node.iftrue if _value(node.cond, variables) else node.iffalse, variables)
    if kind is c_ast.UnaryOp and node.op == "-":
        return -_value(node.expr, variables)
    if kind is c_ast.FuncCall:
        sides = (_value(side, variables) for side in node.args.exprs)
        return _INTRINSICS[node.name.name](*sides)
    assert kind is c_ast.BinaryOp, f"unexpected C: {node}"
    return _binary(node, variables)


def _number(node: c_ast.Constant) -> float:
    assert node.type == "double", f"{node.value} is not a double: C would divide or wrap"
    return float(node.value)


def _result(node: c_ast.Node, variables: Mapping[str, float]) -> float:
    """Return the value of what nothing is computed with: whole numbers may be such."""
    sign, plain = 1, node
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        sign, plain = -1, node.expr
    is_whole = isinstance(plain, c_ast.Constant) and plain.type == "int"
    return sign * int(plain.value) if is_whole else _value(node, variables)


def _binary(node: c_ast.BinaryOp, variables: Mapping[str, float]) -> float:
    left = _value(node.left, variables)
    if node.op == "==" and type(node.left) is c_ast.ID:
        # A variable that is whole, as it is.
        return left == _result(node.right, variables)
    if node.op == "&&":
        return bool(left) and bool(_value(node.right, variables))
    if node.op == "||":
        return bool(left) or bool(_value(node.right, variables))
    return _BINARY[node.op](left, _value(node.right, variables))
