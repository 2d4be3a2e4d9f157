"""The recorded texts are those that algorithms ask for."""

from __future__ import annotations

from tests.helpers import emulated
from tests.helpers.known_texts import asked_apart

from semira.backends.cuda.jit.known import known_texts


def test_an_algorithm_asks_for_what_was_recorded():
    # If it does not: python -m tests.helpers.known_texts --record
    call = "connected_components", "BOOL", "kron:12"
    found = asked_apart(call, emulate=emulated.is_installed)
    assert found
    assert set(found) <= set(known_texts("connected_components", "BOOL"))
