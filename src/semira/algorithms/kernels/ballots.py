"""Label propagation in rounds of all vertices on a GPU, see ballots.cuh; hosts only begin.

The state: whether it is done; rounds; vertices that want another label; how few of them end it;
most rounds; keys of the random numbers, of ties and of turns; rows in the queues; whether few
vertices want another label; long rows that want another one.
"""

from __future__ import annotations

from typing import Any

from semira.kernels import kernel


@kernel
def begin_ballots(
    low: Any, high: Any, few: Any, limit: Any, tie: Any, turn: Any, label: Any, best: Any,
    active: Any, state: Any,
) -> None:  # fmt: skip
    """Give each vertex a label of its own."""
    for v in range(low, high):
        label[v] = v
        best[v] = -1
        active[v] = 1
        if v == 0:
            for k in range(10):
                state[k] = 0
            state[3] = few
            state[4] = limit
            state[5] = tie
            state[6] = turn
