"""What is kept beside a matrix: made once, gone once the matrix is written."""

import pytest

import semira as gb
from semira import exceptions


@pytest.fixture
def A(device):
    return gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3).to(device)


def lower(A, made):
    def make():
        made.append(1)
        return A.select("tril", -1).new()

    return A.derived("lower", make)


def test_made_once(A):
    made = []
    assert lower(A, made) is lower(A, made)
    assert len(made) == 1
    assert A.derived("other", lambda: 7) == 7
    assert lower(A, made).nvals == 1


@pytest.mark.parametrize(
    "write",
    [
        lambda A: A.__setitem__((1, 0), 5),
        lambda A: A(accum="plus") << A,
        lambda A: A.__delitem__((2, 0)),
        lambda A: A.clear(),
        lambda A: A.resize(4, 4),
    ],
)
def test_gone_once_the_matrix_is_written(A, write):
    made = []
    before = lower(A, made)
    write(A)
    after = lower(A, made)
    assert len(made) == 2
    assert after is not before
    assert after.isequal(A.select("tril", -1).new())


def test_copies_have_their_own(A):
    made = []
    assert lower(A, made) is not lower(A.dup(), made)
    assert len(made) == 2


def test_lean_matrices_keep_nothing(A):
    made = []
    lower(A, made)
    assert "derived" in A.memory_usage()
    A.memory = "lean"
    assert "derived" not in A.memory_usage()
    assert lower(A, made) is not lower(A, made)
    assert len(made) == 3


def test_bytes_are_counted(A):
    plain = A.memory_usage()
    first = A.derived("one", A.dup)
    A.derived("two", lambda: (A.dup(), True))
    expected = 2 * sum(first.memory_usage().values())
    assert A.memory_usage() == plain | {"derived": expected}


def test_a_failure_keeps_nothing(A):
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        A.derived("lower", fails)
    assert lower(A, []).nvals == 1


def test_refused_in_a_loop(A):
    def body():
        A.derived("lower", A.dup)

    with pytest.raises(exceptions.RecordError, match="derived makes something at once"):
        gb.repeat(body, max_iterations=1)


def test_triangles_follow_the_graph(device):
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 0, 0], nrows=4, ncols=4).to(device)
    for _ in range(2):
        assert gb.algorithms.triangle_count(A).count == 1
    A[3, 1] << 1
    assert gb.algorithms.triangle_count(A).count == 2
    assert gb.algorithms.triangle_count(A, order="degree").count == 2
