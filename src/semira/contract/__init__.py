"""The contract between the planner, the engine and the backends: frozen data, no behaviour.

A `Program` says what is asked, a `Plan` how it will be done, `Backend` who does it.
"""

from semira.contract.backend import (
    Backend,
    Binding,
    Capabilities,
    DeviceBackend,
    Executable,
    Handle,
)
from semira.contract.hints import WORDS, Hints
from semira.contract.methods import (
    COLUMNS,
    COSTED,
    VERSION,
    Features,
    MethodRow,
    alias_values,
    format_names,
    has_part,
    method_names,
    method_with,
    no_values,
    parameters_of,
    part_of,
    register,
    row_of,
    row_with_alias,
    rows_with_cost,
    unregister,
)
from semira.contract.phases import (
    Barrier,
    Cause,
    HostLoop,
    HostStep,
    Launch,
    LoopPhases,
    OneByOne,
    Outline,
    Part,
    Phase,
    Preview,
    Step,
    Why,
    barriers_in,
    phases_in,
)
from semira.contract.plan import INTERSECTIONS, Method, Plan, Reason, Variant, packs_of
from semira.contract.program import (
    CORE_METHODS,
    PRODUCTS,
    Arg,
    IndexSpec,
    Loop,
    Mask,
    Program,
    Slot,
    Solo,
    Statement,
    walk_statements,
)
from semira.contract.rule import (
    SEARCH_AMONG_MERGES,
    SEARCH_LOOKS,
    SHARED,
    Choose,
    Compare,
    Const,
    Count,
    Previous,
    Rule,
)
from semira.contract.trace import (
    TRACE_COLUMNS,
    TRACE_ROWS,
    LastRows,
    LateRows,
    LoopReport,
    RowList,
    Rows,
    TraceRow,
    UnreadRows,
    Work,
    lost_rows,
    trace_cells,
    trace_html,
    trace_text,
)
from semira.contract.variants import VARIANTS, VariantRow, has_variant_part, variant_part

__all__ = [
    "COLUMNS", "CORE_METHODS", "COSTED", "INTERSECTIONS", "PRODUCTS", "SEARCH_AMONG_MERGES",
    "SEARCH_LOOKS", "SHARED", "TRACE_COLUMNS", "TRACE_ROWS", "VARIANTS", "VERSION", "WORDS",
    "Arg", "Backend", "Barrier", "Binding", "Capabilities", "Cause", "Choose", "Compare",
    "Const", "Count", "DeviceBackend", "Executable", "Features", "Handle", "Hints", "HostLoop",
    "HostStep", "IndexSpec", "LastRows", "LateRows", "Launch", "Loop", "LoopPhases",
    "LoopReport", "Mask", "Method", "MethodRow", "OneByOne", "Outline", "Part", "Phase", "Plan",
    "Preview", "Previous", "Program", "Reason", "RowList", "Rows", "Rule", "Slot", "Solo",
    "Statement", "Step", "TraceRow", "UnreadRows", "Variant", "VariantRow", "Why", "Work",
    "alias_values", "barriers_in", "format_names", "has_part", "has_variant_part", "lost_rows",
    "method_names", "method_with", "no_values", "packs_of", "parameters_of", "part_of",
    "phases_in", "register", "row_of", "row_with_alias", "rows_with_cost", "trace_cells",
    "trace_html", "trace_text", "unregister", "variant_part", "walk_statements",
]  # fmt: skip
