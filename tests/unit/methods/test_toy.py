"""The proof that a method is a folder: a format in a temporary one, registered by one line."""

from __future__ import annotations

import sys
from textwrap import dedent

import numpy as np
import pytest

import semira as gb
from semira.contract import method_names
from semira.methods import register, unregister

#: A format of its own: the entries of each line from the last to the first, and padding.
FILES = {
    "__init__.py": "",
    "plan.py": """
        from semira.contract import MethodRow

        def cost(features):
            return None if features.nvals < 400 else 0.5 * features.nvals

        ROWS = (
            MethodRow(
                name="toy", ops=("mxv", "vxm"), instead_of=("pull",), walks="lines backwards",
                balance="thread", because="it is a toy", parameters={"pad": (2, 4)}, cost=cost,
            ),
        )
        """,
    "arrays.py": """
        import numpy as np

        def backwards(lines, pad):
            "Return begins, indices (-1: padding) and values of the lines from last to first entry."
            counts = np.diff(lines.indptr)
            begins = np.zeros(len(counts) + 1, np.int64)
            np.cumsum(-(-counts // pad) * pad, out=begins[1:])
            indices = np.full(begins[-1], -1, np.int32)
            values = np.zeros(begins[-1], lines.values.dtype)
            held = np.broadcast_to(lines.values, lines.indices.shape) if lines.iso else lines.values
            for i, (lo, hi) in enumerate(zip(lines.indptr[:-1], lines.indptr[1:])):
                place = slice(begins[i], begins[i] + hi - lo)
                indices[place], values[place] = lines.indices[lo:hi][::-1], held[lo:hi][::-1]
            return begins, indices, values
        """,
    "cpu.py": """
        from dataclasses import dataclass, field
        from semira.backends.companions import Companions, Kind
        from semira.backends.cpu.compressed import Valued
        from semira.backends.cpu.host.walks import Lines, pull_lines
        from toy_format.arrays import backwards

        NEEDS_LINES = True

        @dataclass(slots=True, eq=False)
        class Toy(Valued):
            begins: object
            indices: object
            values: object
            iso: bool = False
            companions: Companions = field(default_factory=Companions)

            @property
            def nbytes(self):
                return self.begins.nbytes + self.indices.nbytes + self.values.nbytes

        def make(edges, variant, walk):
            return Toy(*backwards(walk.lines(), dict(variant)["pad"]))

        TOY = Kind("toy", make)

        def multiply(walk):
            held = walk.need(TOY)
            places = held.begins, held.indices
            lines = Lines("toy_format.kernels:pull", ("LENGTHS", False), places, held)
            return pull_lines(walk.product, lines, walk.mask, may_exit=walk.method.early_exit)
        """,
    "kernels/__init__.py": "",
    "kernels/pull.py": """
        import numpy as np
        from semira.backends.cpu.kernels.slots import (
            EXIT_FIRST, EXIT_TERMINAL, FULL, ISO_RESULT, LISTED, MASKED, READS_E, READS_X, TERMINAL,
            add, kernel, multiply,
        )

        @kernel
        def pull(
            lo, hi, rows, begins, indices, e_values, e_stride, present, x_values, x_stride,
            may, may_true, complement, out_present, out_values,
        ):
            num = 0
            work = 0
            for q in range(lo, hi):
                out = np.int64(rows[q]) if LISTED else q
                if MASKED and (may[out] and may_true[out]) == complement:
                    continue
                found = False
                if not ISO_RESULT:
                    total = out_values[q]
                for p in range(begins[out], begins[out + 1]):
                    k = indices[p]
                    if k < 0:
                        break
                    work += 1
                    if FULL or present[k]:
                        if not ISO_RESULT:
                            edge = e_values[p * e_stride] if READS_E else 0
                            x = x_values[k * x_stride] if READS_X else 0
                            t = multiply(edge, x, out, k)
                            total = add(total, t) if found else t
                        found = True
                        if EXIT_FIRST:
                            break
                        if EXIT_TERMINAL and total == TERMINAL:
                            break
                if found:
                    if not ISO_RESULT:
                        out_values[q] = total
                    out_present[q] = True
                    num += 1
            return num, work
        """,
    "cuda.py": """
        from dataclasses import dataclass
        from toy_format.arrays import backwards

        DESCRIPTOR = ("ToyDescriptor", 4)
        HEADERS = ("toy.cuh",)
        NEEDS_LINES = True

        @dataclass
        class CudaToy:
            begins: object
            indices: object
            values: object
            slots: int
            positions: int = 0

            @property
            def nbytes(self):
                return int(self.begins.size + self.indices.size + self.values.size)

            def describe(self, matrix):
                parts = (self.begins, self.indices, self.values)
                return [*(int(part.handle) for part in parts), matrix.nvals]

        def make(matrix, made):
            parts = backwards(matrix.download(made.orientation), dict(made.parameters)["pad"])
            return CudaToy(*(matrix.runtime.upload(part) for part in parts), len(parts[1]))

        def opened(a_type, place, made):
            return f"Toy<{a_type}>", place

        def pull(walk):
            walk.call("toy_pull")
        """,
    "kernels/toy.cuh": """
        #pragma once
        #include "vxm/pull.cuh"

        struct ToyDescriptor {
          void* begins;
          void* indices;
          void* values;
          long long nvals;
        };

        template <class A>
        struct Toy {
          const long long* begins;
          Compressed<A> matrix;
          Toy() = default;
          __device__ explicit Toy(const ToyDescriptor& d)
              : begins(static_cast<const long long*>(d.begins)), matrix{} {
            matrix.indices = static_cast<const Index*>(d.indices);
            matrix.values = static_cast<const A*>(d.values);
            matrix.value_stride = 1;
            matrix.nvals = d.nvals;
          }
        };

        template <bool kExit, class Semiring, class U, class A, class MaskT, class Degrees>
        SEMIRA_PHASE void toy_pull(const Team& team, const Gather<Semiring, U, A> gather,
                                   const Toy<A>& toy, Index rows, const MaskT mask,
                                   const Plane<typename Semiring::Add::T> out,
                                   const Degrees degrees, Counters* counters) {
          using Add = typename Semiring::Add;
          Count inserted = 0, touched = 0, edges = 0;
          const unsigned words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
          for (unsigned w = team.warp; w < words; w += team.warps) {
            const Index row = static_cast<Index>(w * kWarp + team.lane);
            Partial<Add> sum{typename Add::T{}, false};
            if (row < rows && mask.allows(row)) {
              Offset at = static_cast<Offset>(toy.begins[row]);
              const Offset end = static_cast<Offset>(toy.begins[row + 1]);
              while (at < end && !sum.template settled<kExit>()) {
                touched += gather.template walk<kExit>(sum, row, at, end, 1);
                at += kPullBatch;
              }
            }
            const unsigned word = __ballot_sync(kAllLanes, sum.has);
            if (team.lane == 0) out.words[w] = word;
            if (sum.has) {
              out.values[row] = sum.value;
              ++inserted;
              if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
            }
          }
          const Count values[3] = {inserted, touched, edges};
          Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
          add_over_block(values, sums);
        }
        """,
}


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods") / "toy_format"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip())
    sys.path.insert(0, str(folder.parent))
    yield register("toy_format")
    unregister("toy_format")
    sys.path.remove(str(folder.parent))
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_format"]:
        del sys.modules[name]


def graph(nvals: int, size: int = 40):
    rng = np.random.default_rng(nvals)
    rows, cols = np.divmod(rng.choice(size * size, nvals, replace=False), size)
    return gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, nvals), nrows=size, ncols=size)


@pytest.fixture
def placed(device, toy):
    if device == "reference":
        pytest.skip("it runs every method by what it means")
    assert toy == ("toy",)
    with gb.device(device):
        yield device


def test_it_is_pinned_with_parameters_masked_and_accumulated(placed):
    A, mask = graph(200), gb.Vector.from_coo([1, 3, 5, 30], True, size=40)
    u = gb.Vector.from_coo([0, 3, 7, 20, 39], [1, 2, 3, 4, 5], size=40)
    # The kernels of both pads are alike but for their names.
    cases = ("plus_times", 2), ("plus_times", 4), ("min_plus", 2), ("any_pair", 4), ("lor_land", 2)
    for ring, pad in cases:
        found = A.mxv(u, ring).new(method="toy", pad=pad)
        assert found.isequal(A.mxv(u, ring).new())
        found = u.vxm(A, ring).new(mask=~mask.S, method="toy", pad=pad)
        assert found.isequal(u.vxm(A, ring).new(mask=~mask.S))
    w, wanted = u.dup(), u.dup()
    w(accum="plus", method="toy") << A.T.mxv(u, "plus_times")
    wanted(accum="plus") << A.T.mxv(u, "plus_times")
    assert w.isequal(wanted)
    assert any("toy" in name for name in A.memory_usage())


def distances(A, **pins):
    d, step = gb.Vector.from_coo([0], [0], size=40), gb.Vector(int, 40)

    def relax():
        step << gb.semiring.min_plus(d @ A)
        d("min", **pins) << d.vxm(A, "min_plus")

    gb.repeat(relax, max_iterations=6)
    return d


def test_it_runs_inside_a_recorded_loop(placed):
    A = graph(200)
    assert distances(A, method="toy").isequal(distances(A))


def test_it_is_chosen_by_its_cost_and_explained(placed):
    u = gb.Vector.from_dense(np.arange(40))
    small, large = graph(200), graph(600)
    for A, is_toy in ((small, False), (large, True), (small, False)):
        assert ("walks toy(pad=2)" in str(gb.explain(A.mxv(u, "plus_times")))) == is_toy
        assert A.mxv(u, "plus_times").new().isequal(A.mxv(u, "plus_times").new(method="pull"))
        assert any("toy" in name for name in A.memory_usage()) == is_toy
    told = str(gb.explain(large.mxv(u, "plus_times")))
    assert "by the features of the matrix" in told
    assert "pinned" not in told
    # What a loop writes, or a pin rules out, is not weighed.
    assert "toy" not in str(gb.explain(large.mxv(u, "plus_times"), direction="push"))
    assert distances(large).isequal(distances(large, method="pull"))


def test_what_is_wrong_is_said(placed):
    A, u = graph(200), gb.Vector.from_dense(np.arange(40))
    with pytest.raises(gb.exceptions.PlanError, match=r"pad=3 of method='toy'.*choose one of 2, 4"):
        A.mxv(u).new(method="toy", pad=3)
    with pytest.raises(gb.exceptions.InvalidValue, match="unknown option 'pad'"):
        A.mxv(u).new(method="pull", pad=2)
    with pytest.raises(gb.exceptions.PlanError, match="which pull alone walks"):
        A.mxv(u).new(method="toy", direction="push")
    assert "toy" in method_names()


@pytest.fixture
def weighed(toy, tmp_path, monkeypatch):
    """A second method of the same folder, whose cost is a rule over counts."""
    folder = tmp_path / "toy_weighed"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "plan.py").write_text(
        "from dataclasses import replace\n"
        "from semira.contract import Compare, Const, Count\n"
        "from toy_format.plan import ROWS as OTHERS\n"
        "COST = Compare('*', Const(0.1), Count('nnz'))\n"
        "ROWS = (replace(OTHERS[0], name='toy_weighed', cost=COST),)\n"
    )
    for part in ("cpu", "cuda"):
        (folder / f"{part}.py").write_text(f"from toy_format.{part} import *\n")
    (folder / "kernels").mkdir()
    for name in ("kernels/__init__.py", "kernels/toy.cuh"):
        (folder / name).write_text(dedent(FILES[name]).lstrip())
    monkeypatch.syspath_prepend(str(tmp_path))
    unregister("toy_format")
    yield register("toy_weighed")
    unregister("toy_weighed")
    register("toy_format")


def test_a_rule_weighs_it_each_time(device, weighed):
    if device == "reference":
        pytest.skip("it runs every method by what it means")
    with gb.device(device):
        A, few = graph(300), gb.Vector.from_coo([3], 1, size=40)
        for u, walked in ((few, "compressed"), (gb.Vector.from_dense([1] * 40), "toy_weighed")):
            told = gb.explain(u.vxm(A, "plus_times"))
            assert told.chosen.storage == walked
            found = u.vxm(A, "plus_times").new()
            assert found.isequal(u.vxm(A, "plus_times").new(method="push"))
        assert any("toy" in name for name in A.memory_usage())
    assert "toy_weighed is taken each time that it costs less than push and pull" in str(told)
