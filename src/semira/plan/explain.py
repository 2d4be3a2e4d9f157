"""Plans in words: the product, the methods, the one chosen, and what each would touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from semira.base.errors import PlanError
from semira.base.shown import Shown
from semira.contract import Const, Method, Plan, Statement
from semira.plan.expressions import choice_text, fold, rule_text
from semira.plan.phases import ProgramPhases, formula_with
from semira.plan.reasons import sentence
from semira.plan.reuse import DRIVER
from semira.plan.rules_direction import PULL
from semira.plan.rules_full import with_full_operands
from semira.plan.rules_mask import stops_at_first
from semira.plan.rules_product import DOT


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to compute a product."""

    name: str
    #: Matrix positions or entries it would look at.
    entries: float
    #: Whether `entries` rests on averages instead of counts.
    is_estimate: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Shown):
    """The plan of one statement, ready to print.

    Attributes
    ----------
    formula : str
    plan : Plan
    chosen : Method or None
        The method these counts lead to; None if counts that the rule needs are missing.
    rule : str
        The rule, as text; with missing counts, what is left of it.
    touched : tuple of Alternative
    reasons : tuple of str
    phases : ProgramPhases or None
        What the device makes of it as a program of its own; None where devices run statements one
        by one.
    choices : tuple of str
        What the rule picks in a loop: after the first method or at first, then for each other
        method after which it is something else. Counts that are not known stay symbols.
    kept : mapping of str to int
        Bytes of what the methods read and a matrix already keeps beside its arrays, by name.
    """

    formula: str
    plan: Plan
    chosen: Method | None
    rule: str
    touched: tuple[Alternative, ...]
    reasons: tuple[str, ...]
    phases: ProgramPhases | None = None
    choices: tuple[str, ...] = ()
    kept: Mapping[str, int] = field(default_factory=dict)

    def brief(self, *, is_summed: bool = False) -> list[str]:
        """Return lines for a product in a loop: its methods, what picks one, and why."""
        dot = f"{self.plan.methods[0].name}, for only its sum is made"
        choices = (dot,) if is_summed else self.choices
        parts = {
            "method": [str(method) for method in self.plan.methods],
            "chosen": choices if len(self.plan.methods) > 1 else (),
            "because": self.reasons,
        }
        return [
            f"{label if at == 0 else '':8} {text}"
            for label, texts in parts.items()
            for at, text in enumerate(texts)
        ]

    def __str__(self) -> str:
        lines = [self.formula, *(f"  method   {method!s}" for method in self.plan.methods)]
        chosen = self.chosen.name if self.chosen else f"open, by the rule: {self.rule}"
        lines.append(f"  chosen   {chosen}")
        lines.append(f"  output   {self.plan.out_storage}")
        lines += [f"  kept     {name}, {size:,} bytes" for name, size in self.kept.items()]
        if self.touched:
            width = max(len(way.name) for way in self.touched)
            lines.append("  touched  entries of the matrix:")
            for way in self.touched:
                shown = f"about {way.entries:,.6g}" if way.is_estimate else f"{way.entries:,.0f}"
                lines.append(f"    {way.name:{width}}  {shown}")
        lines.append("  because")
        lines += [f"    - {reason}" for reason in self.reasons]
        if self.phases is not None:
            lines += [f"  {line}" for line in str(self.phases).splitlines()]
        return "\n".join(lines)


def explain_statement(
    statement: Statement, counts: Mapping[str, float] | None = None, previous: int = -1
) -> Explanation:
    """Explain the plan of one statement; PlanError if it has none yet.

    Parameters
    ----------
    counts : mapping of count name to number
        What is known of `semira.contract.rule.COUNTS`, and ``lines``: rows of the left operand of
        ``mxm`` that have entries. Alternatives that need a missing count are left out, and the
        choice stays open if the rule needs one. Where an operand has every entry by these counts,
        the plan is explained that is left for it.
    previous : int
        Index of the method used last time; -1: none.
    """
    plan, given = statement.plan, dict(counts or {})
    if plan is None:
        raise PlanError(f"{statement.op} has no plan yet; plan_program fills it in")
    known = {"previous_frontier": -1, **given}
    if statement.op == "mxm":
        plan = with_full_operands(statement, plan, known, previous)
    # A rule that knows all its counts folds to the index of a method.
    rest = fold(plan.rule, known, previous)
    chosen = plan.methods[int(rest.value)] if isinstance(rest, Const) else None
    return Explanation(
        formula=formula_with(statement, _letters(statement)),
        plan=plan,
        chosen=chosen,
        rule=rule_text(plan.rule if chosen else rest),
        touched=tuple(_alternatives(statement, plan, known)),
        reasons=tuple(sentence(reason) for reason in plan.reasons),
        choices=_choices(plan, given),
    )


def _choices(plan: Plan, known: Mapping[str, float]) -> tuple[str, ...]:
    """Return what the rule picks, told apart by the method used before where that counts."""
    names = [method.name for method in plan.methods]
    after = [choice_text(fold(plan.rule, known, at), names) for at in range(len(names))]
    others = zip(names[1:], after[1:], strict=True)
    return (after[0], *(f"after {name}: {text}" for name, text in others if text != after[0]))


def _alternatives(
    statement: Statement, plan: Plan, known: Mapping[str, float]
) -> list[Alternative]:
    """Return what each way to compute a product touches, the plainest idea first."""
    if statement.op == "mxm" and "frontier_edges" in known:
        found = [Alternative("row by row (Gustavson)", known["frontier_edges"])]
        gathers = plan.methods[0].name == DOT
        pulls = any(method.name == PULL for method in plan.methods) and not gathers
        if pulls and {"open_edges", "shared"} <= known.keys():
            shared = known["open_edges"] / known["shared"]
            found.append(Alternative("pull, looks shared by rows", shared, is_estimate=True))
        if gathers and {"open_rows", "open_edges"} <= known.keys():
            found.append(Alternative("dot products", known["open_rows"] + known["open_edges"]))
        return found
    if statement.op not in DRIVER:
        return []
    found = []
    if {"rows", "n"} <= known.keys():
        found.append(Alternative("dense product", known["rows"] * known["n"]))
    if "nnz" in known:
        found.append(Alternative("pull, every row (SpMV)", known["nnz"]))
    if "frontier_edges" in known:
        found.append(Alternative("push (SpMSpV)", known["frontier_edges"]))
    if statement.mask is not None and "open_edges" in known:
        found.append(Alternative("pull, open rows (masked SpMV)", known["open_edges"]))
    looks = _looks_with_early_exit(statement, plan, known)
    if looks is not None:
        found.append(Alternative("pull, open rows, early exit", looks, is_estimate=True))
    return found


def _looks_with_early_exit(
    statement: Statement, plan: Plan, known: Mapping[str, float]
) -> float | None:
    """Return the estimate of `rules_direction`, bounded by the entries that are there."""
    exits = any(method.name == PULL and method.early_exit for method in plan.methods)
    needed = {"open_edges", "open_rows", "nnz", "frontier_edges"}
    if not exits or not stops_at_first(statement.operator) or not needed <= known.keys():
        return None
    if not known["frontier_edges"]:
        return known["open_edges"]
    looks = known["open_rows"] * known["nnz"] / known["frontier_edges"]
    return min(known["open_edges"], looks)


def _letters(statement: Statement) -> dict[int, str]:
    """Name the slots of a statement: the operands first, then mask and output."""
    wanted = {"vxm": ("f", "A"), "mxv": ("A", "f"), "mxm": ("A", "B")}.get(
        statement.op, ("x", "y", "s", "t")
    )
    letters: dict[int, str] = {}
    for arg, letter in zip(statement.args, wanted, strict=False):
        letters.setdefault(arg.slot, letter)
    if statement.mask is not None:
        letters.setdefault(statement.mask.slot, "m")
    letters.setdefault(statement.out, "C" if statement.op == "mxm" else "w")
    return letters
