"""What reading a file guessed or lost, as one line for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from semira.base.log import logger
from semira.base.text import printable

#: Which of repeated edges an operator keeps.
_KEPT = {"first": "the first kept", "second": "the last kept", "last": "the last kept",
         "min": "the least kept", "max": "the largest kept"}  # fmt: skip


def reading_note(meta: Mapping[str, Any]) -> str:
    """Return one line on what was guessed and what was lost, empty if there is nothing to say.

    It looks at `file`, `guesses`, `dropped_missing`, `replaced_missing`, `dropped_self_loops`,
    `repeated_edges` and `dup_op` of a graph's ``meta``.

    Examples
    --------
    >>> reading_note({"file": "g.csv", "repeated_edges": 3, "dup_op": "first"})
    'g.csv: 3 repeated edges, the first kept (dup_op=...)'
    """
    said = [*meta.get("guesses", ())]
    for fact, words in (
        ("dropped_missing", "{} without a weight left out"),
        ("replaced_missing", "{} without a weight given one"),
        ("dropped_self_loops", "{} left out that join a vertex to itself"),
    ):
        if count := meta.get(fact):
            said.append(words.format(_edges(count)))
    if count := meta.get("repeated_edges"):
        op = meta.get("dup_op")
        kept = "" if op is None else f", {_KEPT.get(op, f'folded by {op}')} (dup_op=...)"
        said.append(f"{_edges(count, 'repeated ')}{kept}")
    return f"{meta['file']}: {'; '.join(said)}" if said and "file" in meta else ""


def _edges(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}edge{'s' * (count != 1)}"


def show_note(meta: Mapping[str, Any], *, is_enabled: bool = True) -> None:
    """Write `reading_note` to standard error if it is a terminal, and to the log."""
    note = printable(reading_note(meta))
    if not note:
        return
    logger.info("%s", note)
    stderr = sys.stderr
    if is_enabled and stderr is not None and stderr.isatty():
        stderr.write(f"semira: {note}\n")
