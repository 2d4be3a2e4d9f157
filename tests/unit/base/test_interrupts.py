"""Ctrl-C waits while work is under way, and is neither lost nor heard where it is ignored."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from semira.base.interrupts import check, deferred, held


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_takes_effect_at_the_next_check():
    steps = []

    def work() -> None:
        press()
        steps.append("after")
        check()
        steps.append("never")

    with pytest.raises(KeyboardInterrupt), deferred():
        work()
    assert steps == ["after"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    check()


def test_it_waits_for_the_end_of_what_must_not_be_left_half_done():
    steps = []

    def work() -> None:
        with held():
            press()
            check()
            with deferred(), held():
                check()
            steps.append("whole")
        check()
        steps.append("never")

    with pytest.raises(KeyboardInterrupt), deferred():
        work()
    assert steps == ["whole"]


def test_it_takes_effect_at_the_end_of_the_block():
    with pytest.raises(KeyboardInterrupt), deferred():
        press()


def test_an_inner_block_starts_nothing_after_it():
    started = []

    def work() -> None:
        press()
        with deferred():
            started.append(True)

    with pytest.raises(KeyboardInterrupt), deferred():
        work()
    assert not started
    with deferred():
        pass


def test_the_handler_of_the_program_decides(monkeypatch):
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with deferred():
            press()
            assert not heard
            check()
            assert heard == [signal.SIGINT]
            check()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_where_it_is_ignored_it_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred():
            press()
            check()
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_error_is_not_hidden_and_leaves_nothing_pending():
    def fail() -> None:
        press()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), deferred():
        fail()
    with deferred():
        check()


def test_other_threads_do_not_take_it():
    outcomes = []

    def work() -> None:
        with deferred():
            check()
            outcomes.append("done")

    def interrupted() -> None:
        press()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    with pytest.raises(KeyboardInterrupt), deferred():
        interrupted()
    assert outcomes == ["done"]
