"""The planner: pure functions from the structure of a program to plans with reasons."""

from semira.plan.beforehand import Beforehand, weighed_beforehand
from semira.plan.chooser import plan_program
from semira.plan.explain import Alternative, Explanation, explain_statement
from semira.plan.phases import ProgramPhases, phases_to_data
from semira.plan.policy import POLICIES, Policy
from semira.plan.reuse import Facts

__all__ = [
    "POLICIES",
    "Alternative",
    "Beforehand",
    "Explanation",
    "Facts",
    "Policy",
    "ProgramPhases",
    "explain_statement",
    "phases_to_data",
    "plan_program",
    "weighed_beforehand",
]
