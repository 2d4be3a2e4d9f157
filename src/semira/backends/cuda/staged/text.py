"""What the generators of a matrix statement's kernels share."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.lower.context import Context
from semira.base.dtypes import BOOL, DataType
from semira.contract import Program, Statement
from semira.ops import TypedMonoid

#: Operands by name, in the table every staged kernel is given.
ENTRIES = ("a", "b", "t", "out", "mask")
SCALARS = ("x", "y")

#: Words of an EntriesDescriptor; where the table has the address of the first scalar.
ENTRIES_WORDS = 7
SCALAR_AT = ENTRIES_WORDS * len(ENTRIES)

TABLE = (
    "struct Table {\n"
    + "".join(f"  EntriesDescriptor {name};\n" for name in ENTRIES)
    + "".join(f"  ScalarDescriptor {name};\n" for name in SCALARS)
    + "};\n"
)


@dataclass(slots=True)
class Text:
    """What the generators of one statement share."""

    ctx: Context
    statement: Statement

    def ctype(self, which: int) -> str:
        """Return the C++ type of an operand's values."""
        return self.ctx.ctype(self.statement.args[which].slot)

    @property
    def out_type(self) -> str:
        """C++ type of the output."""
        return self.ctx.ctype(self.statement.out)


def result_dtype(program: Program, statement: Statement) -> DataType:
    """Return the dtype of an operation's result before it is written."""
    operator = statement.operator
    if statement.op == "mxm":
        return operator.monoid.type
    if statement.op in ("ewise_add", "ewise_mult", "ewise_union", "apply"):
        return operator.type if isinstance(operator, TypedMonoid) else operator.return_type
    return BOOL if statement.param("by_value") else program.slots[statement.args[0].slot].dtype


#: Parameters of a kernel that takes the rows of a bin.
ROW_LIST = "const Index* lists, Count* ledger, long long bin"


def has_dots(statement: Statement) -> bool:
    """Return whether a ``mxm`` computes one dot product for each entry of its mask."""
    plan, mask = statement.plan, statement.mask
    first = plan.methods[0].name if plan is not None else "hash"
    return first == "dot" and mask is not None and not mask.complement


def masks_rows(statement: Statement) -> bool:
    """Return whether a product row by row leaves out what its mask forbids by positions alone.

    A complemented mask with values lets entries through whose value is false.
    """
    mask, plan = statement.mask, statement.plan
    if plan is not None and plan.methods[0].mask_order == "after":
        return False
    return mask is not None and (mask.structural or not mask.complement)


def kernel(name: str, parameters: str, *lines: str, threads: int = 0, blocks: int | str = 0) -> str:
    """Return a kernel that reads the table ``g``.

    `threads` bounds its blocks if given; of `blocks`, a number or C++, so many have the registers
    they need.
    """
    given = f"const Table* g, {parameters}" if parameters else "const Table* g"
    body = "".join(f"  {line}\n" for line in lines)
    given_bounds = ", ".join(str(number) for number in (threads, blocks) if number)
    bounds = f"__launch_bounds__({given_bounds}) " if given_bounds else ""
    return f'extern "C" __global__ void {bounds}{name}({given}) {{\n{body}}}\n'


def entries(name: str, ctype: str) -> str:
    """Return the declaration of an operand."""
    return f"const Entries<{ctype}> {name}(g->{name});"


FLAGS = "Offset* kept_x, Offset* kept_y"
FILL = (
    "const Offset* scan_x, const Offset* scan_y, long long nrows, Offset* indptr, "
    "Index* indices, Index* rows, void* values"
)
OUT = "Written{indptr, indices, rows, values}"


def merge(prefix: str, declared: list[str], policy: str, x: str, y: str, result: str) -> list[str]:
    """Return the two kernels of a merge of `x` and `y`."""
    lines = [*declared, f"const auto policy = {policy};"]
    fill = f"merge_fill<{result}>(policy, {x}, {y}, scan_x, scan_y, nrows, {OUT});"
    return [
        kernel(f"{prefix}_flags", FLAGS, *lines, f"merge_flags(policy, {x}, {y}, kept_x, kept_y);"),
        kernel(f"{prefix}_fill", FILL, *lines, fill),
    ]
