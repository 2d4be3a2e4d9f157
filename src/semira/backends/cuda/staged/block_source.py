"""The kernels of a product that pulls into a block of vectors, as text."""

from __future__ import annotations

from semira.backends.cuda.lower.context import Context
from semira.backends.cuda.staged.product_source import multiplied
from semira.backends.cuda.staged.text import TABLE, Text, entries, kernel
from semira.contract import Program, Statement

#: Threads of a block of these kernels (kernels/mxm/block.cuh).
BLOCK_THREADS = 256

_WAITING = "const unsigned* mask, long long flip, const unsigned* driven, long long words"
_GIVEN = (
    f"{_WAITING}, const unsigned* present, const void* values, long long value_stride, "
    "long long rows, long long items, unsigned* found, void* out, Count* totals, long long* put_off"
)


def has_one_value(statement: Statement) -> bool:
    """Return whether every entry of a product is the same whatever the operands hold.

    Its multiplication reads no operand, and adding equal values up changes nothing.
    """
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    reads = multiply.reads_a or multiply.reads_b or multiply.is_positional
    return bool((add.is_any or add.is_idempotent) and not reads)


def block_source(program: Program, statement: Statement) -> str:
    """Return the C++ source of the kernels that pull."""
    text = Text(Context(program), statement)
    semiring, declared = multiplied(text)
    kernels = [_pack("a", text.ctype(0), truth=False), *_pull(text, semiring, declared[1:])]
    mask = statement.mask
    if mask is not None:
        ctype = text.ctx.ctype(mask.slot)
        kernels.append(_pack("mask", ctype, truth=not mask.structural))
    return "\n".join([*text.ctx.structs.values(), TABLE, *kernels])


def _pack(name: str, ctype: str, *, truth: bool) -> str:
    flag = str(truth).lower()
    call = f"pack_block<{flag}>({name}, rows, present, static_cast<{ctype}*>(values));"
    return kernel(
        f"t_pack_{name}", "long long rows, unsigned* present, void* values",
        entries(name, ctype), call,
    )  # fmt: skip


def _pull(text: Text, semiring: str, declared: list[str]) -> list[str]:
    statement = text.statement
    method = None if statement.plan is None else statement.plan.methods[-1]
    exits = statement.operator.monoid.exits_early and (method is None or method.early_exit)
    flag, value = str(exits).lower(), f"typename {semiring}::Add::T"
    a, b = text.ctype(0), text.ctype(1)
    lines = [
        *declared,
        "const Waiting waiting{mask, driven, flip != 0 ? ~0u : 0u, words};",
        "const BlockTally tally(totals, put_off);",
    ]
    if has_one_value(statement):
        # The one value, whoever asks for it later.
        exits_first = str(method is None or method.early_exit).lower()
        first = f"pull_presence<{exits_first}>(b, waiting, present, items, found, tally);"
        second = f"pull_long_presence<{exits_first}>(b, waiting, present, found, tally);"
        starts = [f"write_one_value<{semiring}, {a}, {b}>(out);"]
    else:
        gather = f"Gather<{flag}, {semiring}, {a}, {b}>"
        starts = [
            f"const auto x = static_cast<const {a}*>(values);",
            f"const {gather} gather{{b, present, x, value_stride, rows, words}};",
        ]
        to = f"static_cast<{value}*>(out)"
        first = f"pull_values(gather, waiting, items, found, {to}, tally);"
        second = f"pull_long_values(gather, waiting, found, {to}, tally);"
    return [
        kernel("t_pull", _GIVEN, *lines, *starts, first, threads=BLOCK_THREADS),
        kernel("t_pull_long", _GIVEN, *lines, *starts, second, threads=BLOCK_THREADS),
    ]
