"""Numbers about a matrix are computed once, until somebody writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import semira as gb
from semira.engine import run
from semira.frontend import facts


@pytest.fixture
def matrix() -> gb.Matrix:
    return gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Note every execution."""
    seen: list[int] = []
    execute = run._execute

    def noted(*given: object) -> object:
        seen.append(1)
        return execute(*given)

    monkeypatch.setattr(run, "_execute", noted)
    return seen


QUESTIONS: dict[str, Callable[[gb.Matrix], object]] = {
    "least": lambda A: A.reduce_scalar("min").value,
    "sum": lambda A: A.reduce_scalar(gb.monoid.plus, allow_empty=False).value,
    "nan": lambda A: A.apply(gb.unary.isnan).reduce_scalar(gb.monoid.lor).value,
    "transposed": lambda A: A.T.reduce_scalar("max").value,
}

ANSWERS = {"least": 1.0, "sum": 6.0, "nan": False, "transposed": 3.0}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_was_read_is_not_computed_again(matrix, ran, name) -> None:
    ask = QUESTIONS[name]
    assert ask(matrix) == ANSWERS[name]
    first = len(ran)
    assert first > 0
    assert ask(matrix) == ANSWERS[name]
    assert len(ran) == first
    # Another object, another question.
    assert ask(matrix.dup()) == ANSWERS[name]
    assert matrix.reduce_scalar("times").value == 6
    assert len(ran) > first


def _in_a_loop(A: gb.Matrix) -> None:
    def step() -> None:
        A << A.apply("ainv")

    gb.repeat(step, max_iterations=1)


WRITES: dict[str, Callable[[gb.Matrix], object]] = {
    "element": lambda A: A.__setitem__((0, 1), -7.0),
    "statement": lambda A: A << A.apply("ainv"),
    "accumulated": lambda A: A(gb.binary.plus) << A.apply("times", right=-9.0),
    "region": lambda A: A[[0], [1]] << -7.0,
    "loop": _in_a_loop,
    "deleted": lambda A: A.__delitem__((0, 1)),
    "resize": lambda A: A.resize(3, 2),
    "clear": lambda A: A.clear(),
    "build": lambda A: A.build([0], [0], [5.0], clear=True),
    "unpacked": lambda A: A.ss.export("csr", give_ownership=True),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_seen(matrix, name) -> None:
    ask = QUESTIONS["sum"]
    assert ask(matrix) == 6.0
    WRITES[name](matrix)
    values = matrix.to_coo()[2]
    assert ask(matrix) == values.sum() != 6.0


def test_a_write_that_fails_half_way_is_seen(matrix, monkeypatch) -> None:
    ask = QUESTIONS["sum"]
    assert ask(matrix) == 6.0
    execute = run._execute

    def fails(*given: object) -> None:
        execute(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_execute", fails)
    with pytest.raises(KeyboardInterrupt):
        matrix << matrix.apply("ainv")
    monkeypatch.undo()
    assert ask(matrix) == -6.0


def test_an_answer_that_a_write_overtook_is_not_kept(matrix, monkeypatch) -> None:
    from semira.frontend import reading

    read = reading.scalar_value

    def overtaken(*given: object) -> object:
        found = read(*given)
        monkeypatch.undo()
        matrix << matrix.apply("ainv")
        return found

    monkeypatch.setattr(reading, "scalar_value", overtaken)
    assert QUESTIONS["sum"](matrix) == 6.0
    assert QUESTIONS["sum"](matrix) == -6.0


def test_so_many_answers_are_kept_and_no_more(matrix, monkeypatch) -> None:
    monkeypatch.setattr(facts, "_MOST", 2)
    for _ in range(2):
        for name, ask in QUESTIONS.items():
            assert ask(matrix) == ANSWERS[name]
    assert len(matrix._value.facts) == 2


def test_who_watches_sees_it_run(matrix) -> None:
    for _ in range(2):
        with gb.tracing() as traced:
            QUESTIONS["sum"](matrix)
        assert len(traced.programs) == 1


def test_options_that_change_the_answer_are_asked(matrix, ran) -> None:
    QUESTIONS["nan"](matrix)
    with gb.config.set(deterministic=True):
        before = len(ran)
        QUESTIONS["nan"](matrix)
        assert len(ran) > before
    with gb.config.set(autocompute=False), pytest.raises(TypeError):
        QUESTIONS["nan"](matrix)
