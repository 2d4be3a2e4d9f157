"""The contract between the planner, the engine and the backends: frozen data, no behaviour.

A `Program` says what is asked, a `Plan` how it will be done, `Backend` who does it.
"""

from semira.contract.backend import (
    STORAGES,
    Backend,
    Binding,
    Capabilities,
    DeviceBackend,
    Executable,
    Handle,
)
from semira.contract.hints import Hints
from semira.contract.phases import (
    Barrier,
    Cause,
    LoopPhases,
    Part,
    Phase,
    Preview,
    Step,
    Why,
    barriers_in,
    phases_in,
)
from semira.contract.plan import INTERSECTIONS, MERGES, HotColumns, Method, Plan, Reason
from semira.contract.program import (
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
    SEARCH_LOOKS,
    SHARED,
    Choose,
    Compare,
    Const,
    Count,
    Previous,
    Rule,
)
from semira.contract.trace import LoopReport, TraceRow, Work

__all__ = [
    "INTERSECTIONS",
    "MERGES",
    "PRODUCTS",
    "SEARCH_LOOKS",
    "SHARED",
    "STORAGES",
    "Arg",
    "Backend",
    "Barrier",
    "Binding",
    "Capabilities",
    "Cause",
    "Choose",
    "Compare",
    "Const",
    "Count",
    "DeviceBackend",
    "Executable",
    "Handle",
    "Hints",
    "HotColumns",
    "IndexSpec",
    "Loop",
    "LoopPhases",
    "LoopReport",
    "Mask",
    "Method",
    "Part",
    "Phase",
    "Plan",
    "Preview",
    "Previous",
    "Program",
    "Reason",
    "Rule",
    "Slot",
    "Solo",
    "Statement",
    "Step",
    "TraceRow",
    "Why",
    "Work",
    "barriers_in",
    "phases_in",
    "walk_statements",
]
