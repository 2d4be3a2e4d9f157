"""Products of a matrix and a vector, as text of a loop's kernel."""

from __future__ import annotations

import re
from typing import Any

from semira.backends.cpu.loops.source import ROW, ProductUse, Scope, UnsupportedLoopError, finish
from semira.backends.cpu.loops.statements import fold_at
from semira.backends.rules import render_python
from semira.contract import Method, Statement

#: Functions that count for rules.
COUNTING = """
@helper
def entries_of_lines(indptr, present, positions, count, listed, size, all_entries):
    if count == size:
        return all_entries
    total = np.int64(0)
    if listed:
        for q in range(count):
            i = np.int64(positions[q])
            total += np.int64(indptr[i + 1]) - np.int64(indptr[i])
    else:
        for i in range(size):
            if present[i]:
                total += np.int64(indptr[i + 1]) - np.int64(indptr[i])
    return total
"""


def use_of(scope: Scope, statement: Statement) -> ProductUse:
    """Return how a product uses its operands.

    Raises UnsupportedLoopError if it is not written natively.
    """
    plan = statement.plan
    if statement.op == "mxm" or plan is None:
        raise UnsupportedLoopError(statement.op)
    pushes = any(each.name == "push" and each.storage == "compressed" for each in plan.methods)
    for method in plan.methods:
        # Small iterations push where a pull walks something else, as where its lines are missing.
        plain = method.storage == "compressed" or (method.name == "pull" and pushes)
        plain = plain and method.name in ("push", "pull")
        if not plain or method.mask_order == "after":
            raise UnsupportedLoopError(f"the method {method}")
    if any(part.functions for part in (statement.operator.binaryop, statement.operator.monoid.op)):
        raise UnsupportedLoopError("a function of the user")
    vector_first = statement.op == "vxm"
    at = 1 if vector_first else 0
    use = ProductUse(
        statement, len(scope.source.products), statement.args[at].slot,
        scope.vector(statement.args[1 - at].slot),
        # vxm pushes along rows and pulls along columns; mxv the other way round.
        vector_first == statement.args[at].transposed,
    )  # fmt: skip
    scope.source.products.append(use)
    return use


def write_product(scope: Scope, statement: Statement, use: ProductUse, *, is_known: bool) -> None:
    """Write a product; `is_known`: the entries of its frontier's lines were counted before."""
    plan, k, out = statement.plan, use.number, scope.out
    assert plan is not None
    names = [method.name for method in plan.methods]
    out.add("tn = np.int64(0)", f"frontier{k} = n{use.vector}")
    if len(names) > 1:
        if not is_known:
            out.add(count_frontier(use))
        out.add(f"chosen{k} = {_rule(scope, statement, use)}")
        pull = float(names.index("pull"))
        with out.block(f"if chosen{k} == {pull} and pulls{k}:"):
            _pull(scope, statement, use, plan.methods[names.index("pull")])
        with out.block("else:"):
            out.add(f"chosen{k} = {1.0 - pull}")
            _push(scope, statement, use)
        out.add(f"previous{k} = chosen{k}", f"last{k} = frontier{k}")
    else:
        out.add(f"chosen{k} = 0.0")
        if names == ["pull"]:
            _pull(scope, statement, use, plan.methods[0])
        else:
            _push(scope, statement, use)
    row = (scope.turn, str(k), f"np.int64(chosen{k})", f"frontier{k}", "touched", "tn", "now()")
    out.add("row = np.int64(rows) & (trace.shape[0] - 1)")
    out.add(*(f"trace[row, {at}] = {text}" for at, text in enumerate(row)))
    out.add("rows += 1", "work += touched")
    assert len(row) == len(ROW)
    finish(scope, statement, statement.operator.monoid.type)


def count_frontier(use: ProductUse) -> str:
    """Return the line that counts the entries of the frontier's lines."""
    v, k = use.vector, use.number
    return f"edges{k} = entries_of_lines(ptr{k}_push, p{v}, l{v}, n{v}, c{v}, z{v}, nnz{k})"


def _rule(scope: Scope, statement: Statement, use: ProductUse) -> str:
    """Return the rule between push and pull as an expression."""
    v, k, mask = use.vector, use.number, statement.mask
    size = f"z{scope.vector(statement.out)}"
    if mask is None:
        rows, edges = size, f"nnz{k}"
    else:
        m = scope.vector(mask.slot)
        rows = f"({size} - n{m})" if mask.complement else f"n{m}"
        inside = f"entries_of_lines(ptr{k}_pull, p{m}, l{m}, n{m}, c{m}, z{m}, nnz{k})"
        edges = f"(nnz{k} - {inside})" if mask.complement else inside
    counts = {
        "n": f"z{v}", "rows": size, "nnz": f"nnz{k}", "frontier": f"n{v}",
        "frontier_edges": f"edges{k}", "open_rows": rows, "open_edges": edges,
        "previous_frontier": f"last{k}",
    }  # fmt: skip
    assert statement.plan is not None
    text = re.sub(r"\bprevious\b", f"previous{k}", render_python(statement.plan.rule))
    return re.sub(r"count\('(\w+)'\)", lambda found: f"np.float64({counts[found[1]]})", text)


def _functions(scope: Scope, statement: Statement, use: ProductUse) -> tuple[str, str]:
    """Define the operators; return the names of ``multiply`` and ``add``."""
    semiring: Any = statement.operator
    multiply, add = semiring.binaryop, semiring.monoid
    names = f"multiply{use.number}", f"add{use.number}"
    zero, out, k = "np.int64(0)", "np.int64(out)", "np.int64(k)"
    given = {"a": "edge", "b": "x", "i": out, "k": k, "j": zero}
    if statement.op == "vxm":
        given = {"a": "x", "b": "edge", "i": zero, "k": k, "j": out}
    scope.header.function(names[0], ("edge", "x", "out", "k"), multiply, given, add.type)
    scope.header.function(names[1], ("a", "b"), add.op, {})
    return names


def _operands(scope: Scope, statement: Statement, use: ProductUse, way: str) -> tuple[str, str]:
    """Return the values of an edge at ``p`` and of the vector at ``k``."""
    multiply = statement.operator.binaryop
    vector_first, k = statement.op == "vxm", use.number
    reads_edge, reads_x = multiply.reads_a, multiply.reads_b
    dtype = multiply.type2
    if vector_first:
        reads_edge, reads_x, dtype = reads_x, reads_edge, multiply.type
    edge = f"val{k}_{way}[p * str{k}_{way}]" if reads_edge else "0"
    x = scope.header.cast(scope.slot(use.vector).dtype, dtype, f"x{use.vector}[k]")
    return edge, x if reads_x else "0"


def _push(scope: Scope, statement: Statement, use: ProductUse) -> None:
    out, k, v = scope.out, use.number, use.vector
    multiply, add = _functions(scope, statement, use)
    edge, x = _operands(scope, statement, use, "push")
    values = scope.values(statement.operator.monoid.type)
    out.add("touched = np.int64(0)")
    with scope.entries(v):
        out.add("k = i", f"first = np.int64(ptr{k}_push[k])", f"end = np.int64(ptr{k}_push[k + 1])")
        out.add("touched += end - first")
        with out.block("for p in range(first, end):"):
            out.add(f"out = np.int64(idx{k}_push[p])")
            with out.block(f"if {scope.allowed(statement.mask, 'out')}:"):
                add = "" if statement.operator.monoid.is_any else add
                fold_at(scope, values, "out", f"{multiply}({edge}, {x}, out, k)", add)


def _pull(scope: Scope, statement: Statement, use: ProductUse, method: Method) -> None:
    out, k, v, mask = scope.out, use.number, use.vector, statement.mask
    multiply, add = _functions(scope, statement, use)
    edge, x = _operands(scope, statement, use, "pull")
    monoid = statement.operator.monoid
    values = scope.values(monoid.type)
    size = f"z{scope.vector(statement.out)}"
    out.add("touched = np.int64(0)")

    def row() -> None:
        with out.block(f"if {scope.allowed(mask, 'out')}:"):
            out.add("found = False")
            with out.block(
                f"for p in range(np.int64(ptr{k}_pull[out]), np.int64(ptr{k}_pull[out + 1])):"
            ):
                out.add(f"k = np.int64(idx{k}_pull[p])", "touched += 1")
                with out.block(f"if p{v}[k]:"):
                    text = f"{multiply}({edge}, {x}, out, k)"
                    with out.block("if found:"):
                        out.add(f"{values}[out] = {add}({values}[out], {text})")
                    with out.block("else:"):
                        out.add(f"{values}[out] = {text}", "found = True")
                    _leave(scope, statement, method, values)
            with out.block("if found:"):
                out.add("tp[out] = True", "tl[tn] = out", "tn += 1")

    if mask is not None and not mask.complement:
        with scope.entries(scope.vector(mask.slot)):
            out.add("out = i")
            row()
        return
    with out.block(f"for out in range({size}):"):
        row()
    out.add(f"work += {size}")


def _leave(scope: Scope, statement: Statement, method: Method, values: str) -> None:
    """Write how a row ends early."""
    monoid = statement.operator.monoid
    if not method.early_exit:
        return
    if monoid.is_any:
        scope.out.add("break")
    elif monoid.terminal is not None:
        name = f"terminal{scope.count}"
        scope.header.constant(name, monoid.type, monoid.terminal)
        with scope.out.block(f"if {values}[out] == {name}:"):
            scope.out.add("break")
