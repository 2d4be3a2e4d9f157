"""Rendering: flags are folded, equal kernels share a module, the cache is entered once."""

from __future__ import annotations

import ast
import linecache
import pickle
import threading

import numpy as np
import pytest

import semira as gb
from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header, digest_of, literal, render
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT64
from semira.base.settings import override, restore
from semira.ops.registry import binary


@pytest.fixture
def fresh_cache(tmp_path):
    before = override(cache_dir=tmp_path)
    yield tmp_path
    restore(before)


def header_for(operator, **flags):
    header = Header(flags=flags)
    header.function("multiply", ("edge", "x", "out", "k"), operator, {"a": "edge", "b": "x"})
    header.function("add", ("a", "b"), binary["plus"].typed(operator.return_type), {})
    return header


@pytest.mark.parametrize("template", ["push", "pull", "finish", "ewise", "mxm", "select", "apply"])
def test_rendered_module_has_no_flag_left(template):
    text = render(template, Header())
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    assert not {"MASKED", "UNION", "ISO_RESULT", "FULL", "READS_A", "VALUES"} & names


def test_mask_test_is_there_only_if_asked_for():
    operator = binary["times"].typed(FP64)
    assert "== complement" in render("push", header_for(operator, MASKED=True))
    assert "== complement" not in render("push", header_for(operator, MASKED=False))


def test_kernels_that_compute_only_a_pattern_are_one_kernel():
    # What values would have been is not in the text: every semiring and dtype shares it.
    texts = {
        render("push", Header(flags={"ISO_RESULT": True, "READS_E": reads})) for reads in (0, 1)
    }
    assert len(texts) == 1


def test_small_integers_are_wrapped_and_bool_stays_bool():
    text = render("push", header_for(binary["times"].typed(INT8)))
    assert "np.int8(a * b)" in text
    assert "bool(a and b)" in render("push", header_for(binary["times"].typed(BOOL)))


def test_cast_of_floats_to_integers_saturates():
    header = Header()
    assert header.cast(FP64, INT8, "x") == "cast_f64_i8(x)"
    scope: dict = {}
    exec(header.parts["cast_f64_i8"].replace("@helper\n", ""), {"np": __import__("numpy")}, scope)
    cast = scope["cast_f64_i8"]
    assert [int(cast(x)) for x in (1e9, -1e9, float("nan"), 3.9, -3.9)] == [127, -128, 0, 3, -3]


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (INT64, -3, "np.int64(-3)"),
        (FP32, float("-inf"), 'np.float32(float("-inf"))'),
        (BOOL, 1, "True"),
    ],
)
def test_literal_spells_a_value_of_the_dtype(dtype, value, text):
    assert literal(dtype, value) == text


def test_module_name_is_readable_and_carries_the_digest(fresh_cache):
    header = header_for(binary["times"].typed(FP64))
    module = cache.load("push", header, "plus times")
    text = render("push", header)
    assert module.__name__.endswith(f".push-plus_times-{digest_of(text)}")
    assert callable(module.push)


def test_the_compiler_of_records_shows_lines_in_its_errors(fresh_cache):
    header = Header()
    header.parts["unused"] = "unused = np.frombuffer(bytes(8))"
    module = cache.load("move", header, "record")
    text = render("move", header)
    assert "".join(linecache.getlines(module.shift.py_func.__code__.co_filename)) == text


def test_two_threads_asking_for_one_kernel_share_a_module(fresh_cache):
    header = header_for(binary["minus"].typed(FP64))
    found = []
    barrier = threading.Barrier(4)

    def ask():
        barrier.wait()
        found.append(cache.load("push", header, "race"))

    workers = [threading.Thread(target=ask) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert len({id(module) for module in found}) == 1
    assert not list(fresh_cache.iterdir())


@pytest.mark.parametrize("code", ["l", "q"])
def test_equal_dtypes_are_one_whatever_their_objects(fresh_cache, code):
    kernels = cache.load("move", Header(flags={"VALUES": True}), "dtypes")
    plain = np.arange(4)
    kernels.shift(plain, 0, 3, 1)
    for values in (pickle.loads(pickle.dumps(np.arange(4))), np.arange(4).astype(code)):
        assert kernels.shift.again(values, 0, 3, 1)
        assert values.tolist() == plain.tolist() == [0, 1, 2, 0]


def test_the_least_number_is_read_as_it_is_written(fresh_cache):
    # An integer power saturates at -2**63 and 2**63 - 1.
    with gb.device("cpu"):
        v = gb.Vector.from_coo([0, 1, 2], [-3, 0, 2**40], size=3, dtype="INT64")
        found = v.apply(gb.binary.pow, 3).new().to_dict()
    assert found == {0: -27, 1: 0, 2: 2**63 - 1}
