"""Rendering: a template and operators become the text of a specialised kernel module.

The header defines what the template imports from `kernels.slots`; flags are folded, so that two
specialisations that differ only in something unused render the same text and share a module.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from semira.backends.cpu.kernels import slots
from semira.backends.renumbering.positions import names_in
from semira.base.dtypes import DataType
from semira.ops import TypedOp, helpers
from semira.ops.meaning import literal

#: Beginning of every generated module.
PREAMBLE = """\
import math

import numpy as np

from semira.backends.cpu.jit import helper, kernel
"""


def wrapped(dtype: DataType, text: str) -> str:
    """Return `text` converted to `dtype`: Numba widens small integers, GraphBLAS wraps them."""
    if dtype.kind == "V":
        return text
    return f"bool({text})" if dtype.kind == "B" else f"np.{dtype.np_type.name}({text})"


@dataclass(slots=True)
class Header:
    """Definitions of a template's slots, collected in order."""

    parts: dict[str, str] = field(default_factory=dict)
    #: Folded into the template; those not given are off.
    flags: dict[str, Any] = field(default_factory=dict)

    def helper(self, name: str) -> None:
        """Define a function of `semira.ops.helpers`."""
        if name not in self.parts:
            source = inspect.getsource(getattr(helpers, name))
            self.parts[name] = "@helper\n" + source.replace(": Any", "").replace(" -> Any", "")

    def constant(self, name: str, dtype: DataType, value: Any) -> None:
        """Define a constant."""
        self.parts[name] = f"{name} = {literal(dtype, value)}"

    def function(
        self,
        name: str,
        parameters: tuple[str, ...],
        op: TypedOp,
        given: Mapping[str, str],
        result: DataType | None = None,
    ) -> None:
        """Define a function that evaluates `op`; its result is cast to `result`, if there is one.

        `given` has, for variables of the operator, expressions in the parameters.
        """
        used = names_in(op.python)
        for helper in helpers.NAMES:
            if helper in used:
                self.helper(helper)
        for user in op.functions:
            self.parts[user] = (
                f"from semira.ops.user import function_named\n{user} = "
                f'helper(function_named("{user}"))'
            )
        # All at once: an expression may name a parameter that another variable hides (a, b = b, a).
        pairs = {variable: text for variable, text in given.items() if variable in used}
        lines = [f"    {', '.join(pairs)} = {', '.join(pairs.values())}"] if pairs else []
        value = self.cast(
            op.return_type, result or op.return_type, wrapped(op.return_type, op.python)
        )
        self.parts[name] = "\n".join(
            ["@helper", f"def {name}({', '.join(parameters)}):", *lines, f"    return {value}"]
        )

    def expression(self, name: str, parameters: tuple[str, ...], text: str) -> None:
        """Define a function that returns an expression."""
        self.parts[name] = f"@helper\ndef {name}({', '.join(parameters)}):\n    return {text}"

    def cast(self, source: DataType, target: DataType, text: str) -> str:
        """Return `text` cast as SuiteSparse does: floats saturate, NaN is 0, integers wrap."""
        if source is target:
            return text
        if target.kind == "B":
            return f"({text}) != 0"
        if source.is_complex and not target.is_complex:
            return self.cast(source.part, target, f"({text}).real")
        if source.kind != "F" or target.kind in "FC":
            return wrapped(target, text)
        name = f"cast_{source.tag}_{target.tag}"
        low, high = int(target.smallest), int(target.largest)
        self.parts[name] = "\n".join(
            [
                "@helper",
                f"def {name}(x):",
                "    if x != x:",
                f"        return {literal(target, 0)}",
                f"    if x >= {float(high)!r}:",
                f"        return {literal(target, high)}",
                f"    if x <= {float(low)!r}:",
                f"        return {literal(target, low)}",
                f"    return {wrapped(target, 'x')}",
            ]
        )
        return f"{name}({text})"


class _Fold(ast.NodeTransformer):
    """Replaces flags by their values and removes the branches that cannot be taken."""

    def __init__(self, flags: Mapping[str, int]) -> None:
        self.flags = flags

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.flags and isinstance(node.ctx, ast.Load):
            return ast.Constant(self.flags[node.id])
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.Constant(not node.operand.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        kept = [
            part for part in node.values if not _is_flag(part) or bool(_constant(part)) is decides
        ]
        if any(_is_flag(part) for part in kept):
            # Operands before a deciding constant have no side effects in a template.
            return ast.Constant(decides)
        if not kept:
            return ast.Constant(not decides)
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if _is_flag(node.test):
            return node.body if _constant(node.test) else node.orelse
        if not node.body:
            node.body = [ast.Pass()]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if _is_flag(node.test):
            return node.body if _constant(node.test) else node.orelse
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        self.generic_visit(node)
        return node


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _constant(node: ast.AST) -> Any:
    assert isinstance(node, ast.Constant)
    return node.value


@functools.cache
def _template(name: str) -> str:
    """Return a template of `kernels`, or ``package:name`` of a method's folder."""
    package, _, file = name.rpartition(":")
    folder = resources.files(package or "semira.backends.cpu.kernels")
    return folder.joinpath(f"{file}.py").read_text("utf-8")


def source_of(template: str) -> str:
    """Return the text of templates, joined by ``+``, after what they import helpers from."""
    names = template.split("+")
    pattern = r"(?m)^from (semira\.(?!backends).*\.kernels)\.(\w+) "
    imported = [f"{a}:{b}" for name in names for a, b in re.findall(pattern, _template(name))]
    return "".join(map(_template, dict.fromkeys([*imported, *names])))


def render(template: str, header: Header) -> str:
    """Return the source of templates with the slots of `header` filled in; they are one module.

    Examples
    --------
    >>> "VALUES" in render("structure", Header(flags={"VALUES": True}))
    False
    """
    flags = {name: header.flags[name] for name in header.flags.keys() & _names_in(template)}
    parts = [PREAMBLE, *header.parts.values(), _folded(template, frozenset(flags.items()))]
    return "\n\n".join(parts) + "\n"


@functools.cache
def _names_in(template: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", source_of(template)))


_OFF = {name: False for name, value in vars(slots).items() if value is False}


@functools.lru_cache(512)
def _folded(template: str, flags: frozenset[tuple[str, int]]) -> str:
    """Return the functions of a template with its flags folded."""
    tree = ast.parse(source_of(template))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return ast.unparse(_Fold(_OFF | dict(flags)).visit(tree))


def digest_of(*texts: str) -> str:
    """Return a short digest of texts."""
    joined = "\0".join(texts).encode()
    return hashlib.sha256(joined).hexdigest()[:16]
