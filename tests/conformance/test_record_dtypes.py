"""User-defined dtypes, against the same program on integers: a record is told by its key."""

import pickle

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.base.errors import (
    DimensionMismatch,
    DomainMismatch,
    DtypeUnsupported,
    NotImplementedException,
)

RECORD = np.dtype([("flag", np.bool_), ("key", np.int64), ("at", np.float32, (2,))], align=True)
ARRAY = np.dtype("(3,)int64")


def _larger(left, right):
    return left if left["key"] > right["key"] else right


def _key(x):
    return x["key"]


class Numbers:
    """The program on plain integers: on the reference, whatever device has the records."""

    dtype = gb.dtypes.INT64
    larger = gb.monoid.max
    semiring = gb.semiring.max_first
    key = gb.unary.identity

    @staticmethod
    def values(keys):
        return np.asarray(keys, np.int64)


class Records(Numbers):
    """The program on records that hold the integers."""

    dtype = gb.dtypes.register_anonymous(RECORD)
    function = gb.binary.register_anonymous(_larger, "larger_key", is_udt=True)
    larger = gb.monoid.register_anonymous(function, (False, -(10**9), [0, 0]))
    semiring = gb.semiring.register_anonymous(larger, gb.binary.first)
    key = gb.unary.register_anonymous(_key, "key_of", is_udt=True)

    @staticmethod
    def values(keys):
        made = np.zeros(len(keys), RECORD)
        made["key"] = keys
        made["flag"] = np.asarray(keys) % 2
        made["at"] = np.stack([keys, keys], axis=-1)
        return made


def _device(of, device):
    return gb.device(device if of is Records else "reference")


def _vector(of, rng, size, share):
    indices = np.flatnonzero(rng.random(size) < share)
    return gb.Vector.from_coo(indices, of.values(rng.integers(0, 9, len(indices))), of.dtype,
                              size=size)  # fmt: skip


def _matrix(of, rng, nrows, ncols, share):
    rows, cols = np.nonzero(rng.random((nrows, ncols)) < share)
    values = of.values(rng.integers(0, 9, len(rows)))
    return gb.Matrix.from_coo(rows, cols, values, of.dtype, nrows=nrows, ncols=ncols)


def _one(of, key):
    return gb.Scalar.from_value(of.values([key])[0], of.dtype)


VECTOR_PROGRAMS = {
    "dup": lambda of, u, v: u.dup(),
    "add larger": lambda of, u, v: of.larger(u | v).new(),
    "mult larger": lambda of, u, v: of.larger(u & v).new(),
    "mult first": lambda of, u, v: gb.binary.first(u & v).new(),
    "mult second": lambda of, u, v: gb.binary.second(u & v).new(),
    "union": lambda of, u, v: u.ewise_union(v, of.larger, _one(of, 3), _one(of, 4)).new(),
    "eq": lambda of, u, v: u.ewise_mult(v, "eq").new(),
    "ne": lambda of, u, v: u.ewise_mult(v, "ne").new(),
    "pair": lambda of, u, v: u.ewise_mult(v, "pair").new(),
    "apply": lambda of, u, v: u.apply(of.key).new(),
    "one": lambda of, u, v: u.apply("one").new(),
    "identity": lambda of, u, v: u.apply("identity").new(),
    "position": lambda of, u, v: u.apply("rowindex", 2).new(),
    "bound": lambda of, u, v: u.apply(of.larger, right=_one(of, 4)).new(),
    "bound left": lambda of, u, v: u.apply(gb.binary.first, left=_one(of, 4)).new(),
    "select value": lambda of, u, v: u.select("valueeq", _one(of, 4)).new(),
    "select other": lambda of, u, v: u.select("valuene", _one(of, 4)).new(),
    "select place": lambda of, u, v: u.select("rowle", 3).new(),
    "reduce": lambda of, u, v: u.reduce(of.larger).new(),
    "reduce identity": lambda of, u, v: u.dup(clear=True).reduce("any").new(),
    "inner": lambda of, u, v: of.semiring(u @ v).new(),
    "extract": lambda of, u, v: u[::-2].new(),
    "extract list": lambda of, u, v: u[[2, 0, 2]].new(),
    "extract one": lambda of, u, v: u[1].new(),
    "gather": lambda of, u, v: u.gather(gb.Vector.from_coo([0, 2], [3, 1], size=4)).new(),
    "diag": lambda of, u, v: u.diag(1),
    "masked": lambda of, u, v: u.dup(mask=~v.S),
}  # fmt: skip

WRITES = {
    "vector": lambda of, w, u, v: w << u,
    "accumulate": lambda of, w, u, v: w(of.larger) << u,
    "mask": lambda of, w, u, v: w(v.S) << u,
    "mask replace": lambda of, w, u, v: w(~v.S, replace=True) << u,
    "mask accumulate": lambda of, w, u, v: w(~v.S, of.larger) << u,
    "scalar": lambda of, w, u, v: w.__lshift__(_one(of, 5)),
    "scalar mask": lambda of, w, u, v: w(v.S) << _one(of, 5),
    "scalar accumulate": lambda of, w, u, v: w(of.larger)[:] << _one(of, 5),
    "region": lambda of, w, u, v: w[2:5].update(_one(of, 5)),
    "region vector": lambda of, w, u, v: w[[3, 1]] << u[:2].new(),
    "region submask": lambda of, w, u, v: w[1:4](v[1:4].new().S) << _one(of, 6),
    "delete": lambda of, w, u, v: w.__delitem__(slice(1, 4)),
    "itself": lambda of, w, u, v: w << of.larger(w | u),
    "resize": lambda of, w, u, v: w.resize(3),
}

MATRIX_PROGRAMS = {
    "transpose": lambda of, a, b, u: a.T.new(),
    "mxm": lambda of, a, b, u: of.semiring(a @ b).new(),
    "mxm transposed": lambda of, a, b, u: a.T.mxm(b.T, of.semiring).new(),
    "mxm masked": lambda of, a, b, u: of.semiring(a @ b).new(mask=b.S),
    "mxm complement": lambda of, a, b, u: of.semiring(a @ b).new(mask=~b.S),
    "mxm any_second": lambda of, a, b, u: a.mxm(b, gb.semiring.any_second).new().nvals,
    "plus_pair": lambda of, a, b, u: a.mxm(b, gb.semiring.plus_pair).new(),
    "mxv": lambda of, a, b, u: a.mxv(u, of.semiring).new(),
    "vxm": lambda of, a, b, u: u.vxm(a, of.semiring).new(),
    "mxv masked": lambda of, a, b, u: a.mxv(u, of.semiring).new(mask=u.S),
    "mxv complement": lambda of, a, b, u: a.T.mxv(u, of.semiring).new(mask=~u.S),
    "add": lambda of, a, b, u: of.larger(a | b).new(),
    "mult": lambda of, a, b, u: of.larger(a & b.T).new(),
    "rows": lambda of, a, b, u: a.reduce_rowwise(of.larger).new(),
    "columns": lambda of, a, b, u: a.reduce_columnwise(of.larger).new(),
    "scalar": lambda of, a, b, u: a.reduce_scalar(of.larger).new(),
    "count": lambda of, a, b, u: a.reduce_rowwise(gb.agg.count).new(),
    "first": lambda of, a, b, u: a.reduce_rowwise(gb.agg.ss.first).new(),
    "apply": lambda of, a, b, u: a.apply(of.key).new(),
    "tril": lambda of, a, b, u: a.select("tril").new(),
    "select": lambda of, a, b, u: a.T.select("valueeq", _one(of, 4)).new(),
    "extract": lambda of, a, b, u: a[[3, 0], ::2].new(),
    "row": lambda of, a, b, u: a[1, :].new(),
    "diag": lambda of, a, b, u: a.diag(1),
    "concat": lambda of, a, b, u: gb.ss.concat([[a, b], [b, a]]),
    "kronecker": lambda of, a, b, u: a.kronecker(b, of.larger).new(),
    "reshape": lambda of, a, b, u: a.ss.flatten(),
    "written": lambda of, a, b, u: _written(of, a, b),
}


def _written(of, a, b):
    made = a.dup()
    made[1:3, [0, 2]] << b[1:3, [0, 2]].new()
    made(b.S, of.larger) << b
    made[0, :](replace=False) << _one(of, 8)
    del made[:, 1]
    return made


def _same(records, numbers):
    """Check that an object of records holds the integers, all fields of each record in step."""
    if not hasattr(records, "dtype") or records.dtype is not Records.dtype:
        assert records == numbers if isinstance(records, int) else records.isequal(numbers)
        return
    assert records.shape == numbers.shape
    *places, found = _entries(records, RECORD)
    *expected_places, keys = _entries(numbers, np.int64)
    for place, expected in zip(places, expected_places, strict=True):
        assert place.tolist() == expected.tolist()
    expected = Records.values(keys)
    for name in RECORD.names:
        np.testing.assert_array_equal(found[name], expected[name])


def _entries(item, dtype):
    if item.kind != "scalar":
        return item.to_coo()
    return (np.array([] if item.is_empty else [item.value], dtype),)


SHARES = (0.05, 0.5, 1.0)


@every("share", SHARES)
@every("name", VECTOR_PROGRAMS)
def test_vectors(device, name, share):
    made = []
    for of in (Records, Numbers):
        rng = np.random.default_rng(7)
        with _device(of, device):
            u, v = _vector(of, rng, 70, share), _vector(of, rng, 70, 0.4)
            made.append(VECTOR_PROGRAMS[name](of, u, v))
    _same(*made)


@every("share", SHARES)
@every("name", WRITES)
def test_writing_vectors(device, name, share):
    made = []
    for of in (Records, Numbers):
        rng = np.random.default_rng(8)
        with _device(of, device):
            w = _vector(of, rng, 40, share)
            u, v = _vector(of, rng, 40, 0.5), _vector(of, rng, 40, 0.3)
            # Twice: the second time the output is what the first left, perhaps in place.
            WRITES[name](of, w, u, v) if name == "resize" else [
                WRITES[name](of, w, other, v) for other in (u, v)
            ]
            made.append(w)
    _same(*made)


@every("name", MATRIX_PROGRAMS)
def test_matrices(device, name):
    made = []
    for of in (Records, Numbers):
        rng = np.random.default_rng(9)
        with _device(of, device):
            a, b = _matrix(of, rng, 12, 12, 0.3), _matrix(of, rng, 12, 12, 0.4)
            made.append(MATRIX_PROGRAMS[name](of, a, b, _vector(of, rng, 12, 0.6)))
    _same(*made)


FILLED = {
    "numbers": lambda v: v[:].update(1),
    "tuple": lambda v: v[1].update((True, 2, [3, 4])),
    "dict": lambda v: v[1].update({"key": 2, "flag": True, "at": [3, 4]}),
    "list": lambda v: v[[0, 2]].update([(True, 2, 1.5), (False, 3, 2.5)]),
    "array": lambda v: v[:].update(Records.values(np.arange(4))),
    "number everywhere": lambda v: v << 7,
}


@every("name", FILLED)
def test_writing_what_python_has(device, name):
    with gb.device(device):
        v = gb.Vector(RECORD, 4)
        FILLED[name](v)
    expected = np.zeros(4, RECORD)
    present = {"numbers": range(4), "array": range(4), "number everywhere": range(4),
               "list": (0, 2)}.get(name, (1,))  # fmt: skip
    if name == "list":
        expected[[0, 2]] = [(True, 2, 1.5), (False, 3, 2.5)]
    elif name == "array":
        expected = Records.values(np.arange(4))
    else:
        numbers = {"numbers": 1, "number everywhere": 7}.get(name)
        expected[:] = (True, 2, [3, 4]) if numbers is None else np.array(numbers).astype(RECORD)
    indices, values = v.to_coo()
    assert indices.tolist() == list(present)
    assert np.array_equal(values, expected[list(present)])


def test_subarrays_go_in_and_out(device):
    table = np.arange(12).reshape(4, 3)
    with gb.device(device):
        v = gb.Vector.from_dense(table)
        v[1] = 7
        v[[2, 3]] = [[1, 2, 3], [4, 5, 6]]
        a = gb.Matrix.from_coo([0, 1], [1, 0], table[:2])
        a[:, 0] = [9, 9, 9]
    assert v.dtype == ARRAY
    assert v.to_dense().tolist() == [[0, 1, 2], [7, 7, 7], [1, 2, 3], [4, 5, 6]]
    assert v.to_dict()[3] == [4, 5, 6]
    assert v[0].new().value.tolist() == [0, 1, 2]
    assert v[0].new() == [0, 1, 2]
    assert a.to_dicts() == {0: {0: [9, 9, 9], 1: [0, 1, 2]}, 1: {0: [9, 9, 9]}}
    assert a.to_dense([0, 0, 1]).tolist()[1][1] == [0, 0, 1]
    assert v.ewise_mult(v.dup(), "eq").new().reduce("land").new()


def test_a_scalar_keeps_its_value_when_the_vector_changes(device):
    with gb.device(device):
        v = gb.Vector.from_dense(Records.values(np.arange(40)))
        del v[3]
        taken, reduced = v[1].new(), v[1:2].new().reduce("any").new()
        v(v.S)[:] = 5
        v[1] = 6
    assert taken.value["key"] == 1
    assert reduced.value["key"] == 1


def test_mixed_dtypes_meet_in_a_function(device):
    weigh = gb.binary.register_anonymous(
        lambda record, number: record["key"] * number, "weigh", is_udt=True
    )
    with gb.device(device):
        v = gb.Vector.from_dense(Records.values(np.arange(4)))
        n = gb.Vector.from_coo([1, 3], [10.0, 20.0], size=4)
        assert weigh[v.dtype, n.dtype].type2 is n.dtype
        assert weigh(v & n).new().to_dict() == {1: 10.0, 3: 60.0}
        a = gb.Matrix.from_coo([0, 1], [1, 3], Records.values([2, 3]), nrows=2, ncols=4)
        semiring = gb.semiring.register_anonymous(gb.monoid.plus, weigh)
        assert a.mxv(n, semiring).new().to_dict() == {0: 20.0, 1: 60.0}
        assert n.vxm(a.T, gb.semiring.any_second).new().dtype is v.dtype
        assert gb.binary.first(n & v).new().isequal(n)


def test_recorded_loops(device):
    with gb.device(device):
        v = gb.Vector.from_dense(Records.values([3, 1, 2]))
        a = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], 1, dtype=bool)
        steps = gb.Scalar.from_value(0)
        swapped = gb.semiring.register_anonymous(Records.larger, gb.binary.second)

        def step():
            v(Records.larger) << a.mxv(v, swapped)
            steps << steps + 1

        gb.repeat(step, max_iterations=2)
    assert v.to_coo()[1]["key"].tolist() == [3, 3, 3]


REFUSED = {
    "plus": (DtypeUnsupported, "does not work with", lambda v, n: (v + v).new()),
    "less": (DtypeUnsupported, "does not work with", lambda v, n: v.ewise_mult(v, "lt")),
    "default reduce": (DtypeUnsupported, "does not work with", lambda v, n: v.reduce().new()),
    "agg": (DtypeUnsupported, "does not work with", lambda v, n: v.reduce(gb.agg.mean).new()),
    "abs": (DtypeUnsupported, "does not work with", lambda v, n: abs(v).new()),
    "typed": (DomainMismatch, "cast to nothing", lambda v, n: v.apply(gb.unary.ainv[int])),
    "mixed eq": (DtypeUnsupported, "does not work with", lambda v, n: v.ewise_mult(n, "eq")),
    "union of two": (DomainMismatch, "one side alone", lambda v, n: v.ewise_add(v, "eq")),
    "copy": (DomainMismatch, "cannot be written", lambda v, n: n << v),
    "copy back": (DomainMismatch, "cannot be written", lambda v, n: v << n),
    "dup": (DomainMismatch, "cannot be written", lambda v, n: v.dup(float)),
    "mask": (DomainMismatch, "value mask", lambda v, n: n(v.V)),
    "isclose": (DtypeUnsupported, "isclose", lambda v, n: v.isclose(v)),
    "isequal": (DomainMismatch, "cannot be compared", lambda v, n: v.isequal(n)),
    "to_coo": (DomainMismatch, "cannot be read", lambda v, n: v.to_coo(float)),
    "to_dense": (DomainMismatch, "cannot be read", lambda v, n: v.to_dense(dtype=float)),
    "value": (DomainMismatch, "is no value", lambda v, n: v.__setitem__(0, (1, 2))),
    "shape": (DimensionMismatch, "shape mismatch", lambda v, n: v.__setitem__([0, 1], [1, 2, 3])),
    "function": (
        DtypeUnsupported, "does not work with",
        lambda v, n: v.apply(gb.unary.register_anonymous(lambda x: x, "plain")),
    ),
}  # fmt: skip


@every("name", REFUSED)
def test_what_is_refused(device, name):
    error, match, program = REFUSED[name]
    with gb.device(device):
        v = gb.Vector.from_dense(Records.values([3, 1, 2]))
        n = gb.Vector.from_dense([1.0, 2.0, 3.0])
        with pytest.raises(error, match=match):
            program(v, n)
    assert v.to_coo()[1]["key"].tolist() == [3, 1, 2]
    assert n.to_dense().tolist() == [1, 2, 3]


def test_the_suitesparse_backend_refuses():
    pytest.importorskip("graphblas")
    with pytest.raises(NotImplementedException, match="device='cpu'"):
        gb.Vector.from_dense(Records.values([1])).to("suitesparse")


def test_bytes_and_pickles_bring_objects_back(device):
    with gb.device(device):
        v = gb.Vector.from_coo([1, 3], Records.values([4, 5]), size=6)
        a = gb.Matrix.from_coo([0, 1], [1, 0], [[1, 2, 3], [4, 5, 6]])
    for item in (v, a):
        again = type(item).ss.deserialize(item.ss.serialize("zlib"))
        assert again.isequal(item, check_dtype=True)
        assert pickle.loads(pickle.dumps(item)).isequal(item, check_dtype=True)
    assert pickle.loads(pickle.dumps(v[1].new())) == v[1].new()


@every("form", ["csr", "csc", "coo", "fullr", "bitmapc", "hypercsr"])
def test_arrays_of_the_ss_level(device, form):
    with gb.device(device):
        a = gb.Matrix.from_dense(np.arange(12).reshape(2, 2, 3))
        r = gb.Matrix.from_dense(Records.values(np.arange(4)).reshape(2, 2))
        for item in (a, r):
            made = gb.Matrix.ss.import_any(**item.ss.export(form))
            assert made.isequal(item, check_dtype=True)
    assert a.ss.export("csr")["values"].shape == (4, 3)
    assert [value for _, _, value in a.ss.iteritems()][1] == [3, 4, 5]


def test_operators_travel_with_their_dtypes():
    for op in (gb.binary.first[RECORD], gb.binary.first[RECORD, int], gb.monoid.any[ARRAY]):
        assert pickle.loads(pickle.dumps(op)) is op
    assert gb.binary.first[RECORD].commutes_to is gb.binary.second[RECORD]
    assert (RECORD, int) not in gb.monoid.any
    assert RECORD not in gb.binary.plus


OTHERS = {
    "scipy": (DomainMismatch, "numbers", lambda v, n: gb.io.to_scipy_sparse(v)),
    "concat": (DomainMismatch, "cannot be joined", lambda v, n: gb.ss.concat([v, n])),
    "smallest": (DtypeUnsupported, "no order", lambda v, n: v.ss.compactify("smallest")),
    "sort": (DtypeUnsupported, "does not work with", lambda v, n: v.ss.sort()),
    "dup_op": (
        DtypeUnsupported, "does not work with",
        lambda v, n: gb.Vector.from_coo([0, 0], Records.values([1, 2]), dup_op="plus"),
    ),
    "array function": (
        DtypeUnsupported, "does not work with",
        lambda v, n: gb.Vector.from_dense([[1, 2]]).apply(Records.key),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_other_rooms_refuse(name):
    error, match, program = OTHERS[name]
    v = gb.Vector.from_dense(Records.values([3, 1, 2]))
    with pytest.raises(error, match=match):
        program(v, gb.Vector.from_dense([1.0, 2.0, 3.0]))
