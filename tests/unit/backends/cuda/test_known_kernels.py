"""Kernels that are known to compile: written and read back, new ones seen, some drawn again."""

from __future__ import annotations

import pytest
from tests.helpers import compile_kernels, known_kernels
from tests.helpers.kernels import Kernel
from tests.helpers.known_kernels import Known, differences, some
from tests.unit.backends.cuda.test_compile import needs_nvrtc

from semira.backends.cuda.jit.render import PROGRAM

KERNELS = [Kernel(PROGRAM, "int", f"void p{number}() {{}}") for number in range(9)]


def heading(kernel):
    return f"{kernel.root}: library"


def test_what_is_written_reads_back(tmp_path):
    path = tmp_path / "known.txt"
    known = Known.of(KERNELS, heading)
    known.write(path)
    assert Known.read(path) == known
    assert Known.read(tmp_path / "none") == Known({})
    assert all(known.holds(kernel, heading(kernel)) for kernel in KERNELS)
    assert not known.holds(Kernel(PROGRAM, "int", "void other() {}"), heading(KERNELS[0]))
    assert not known.holds(KERNELS[0], f"{PROGRAM}: another library")


def test_differences_name_texts_and_libraries():
    known = Known.of(KERNELS, heading)
    assert list(differences(known, known)) == []
    (line,) = differences(known, Known.of(KERNELS[2:], heading))
    assert line == f"{PROGRAM}: 0 texts are new, 2 are gone"
    (line,) = differences(known, Known.of(KERNELS, lambda kernel: f"{kernel.root}: another"))
    assert "library" in line
    (line,) = differences(Known({}), known)
    assert line.endswith("new")


def test_a_changed_file_changes_the_digest_of_the_library_and_its_name_does_not(monkeypatch):
    texts = ['#line 1 "a.cuh"\nint a;\n', '#line 1 "b.cuh"\nint a;\n', '#line 1 "b.cuh"\nint b;\n']
    monkeypatch.setattr(known_kernels, "kernel_library", texts.__getitem__)
    first, moved, changed = (known_kernels.library_digest.__wrapped__(i, "") for i in range(3))
    assert first == moved != changed
    assert known_kernels.library_digest.__wrapped__(0, "--std=c++20") != first


def test_other_kernels_are_compiled_again_when_one_changes():
    first = some(KERNELS, 3)
    assert len(first) == 3
    assert first == some(KERNELS[::-1], 3)
    drawn = {tuple(some([*KERNELS[1:], Kernel(PROGRAM, "int", f"{n}")], 3)) for n in range(5)}
    assert len(drawn) > 1


def test_only_new_kernels_and_a_few_others_are_compiled(monkeypatch, capsys, tmp_path):
    pool = tmp_path / "known.txt"
    new = Kernel(PROGRAM, "int", "void added() {}")
    Known.of(KERNELS, compile_kernels.accepted).write(pool)
    monkeypatch.setattr(compile_kernels.Known, "read", lambda: Known.parse(pool.read_text()))
    monkeypatch.setattr(compile_kernels, "all_kernels", lambda: (*KERNELS, new))
    monkeypatch.setattr(compile_kernels, "unspilled_kernels", lambda: ())
    monkeypatch.setattr(compile_kernels, "refused_programs", lambda: ())
    monkeypatch.setattr(compile_kernels, "AGAIN", 2)
    tasks = []

    class Pool:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def map(self, _, given):
            tasks.extend(given)
            return [[] for _ in given]

    monkeypatch.setattr(compile_kernels, "ProcessPoolExecutor", Pool)
    assert compile_kernels.main([]) == 0
    made = [(kernel, arch) for _, batch, arch in tasks for kernel in batch]
    assert (new, compile_kernels.FULL) in made
    # Two others, each for one architecture.
    assert len({kernel for kernel, _ in made if kernel != new}) == 2
    assert sum(kernel != new for kernel, _ in made) == 2
    assert "10 texts, 1 of them new" in capsys.readouterr().out
    assert compile_kernels.main(["--compare"]) == 1
    tasks.clear()
    compile_kernels.main(["--all"])
    (batch,) = (batch for _, batch, arch in tasks if arch == compile_kernels.FULL)
    assert len(batch) == 10


@needs_nvrtc
@pytest.mark.parametrize("count", [2, 400])
def test_a_kernel_that_spills_is_named(count):
    kept = "".join(f"double v{i} = p[{i}];" for i in range(count))
    swapped = "".join(f"p[{i}] = v{count - 1 - i};" for i in range(count))
    text = f'extern "C" __global__ void k(double* p) {{ {kept} __syncthreads(); {swapped} }}'
    found = compile_kernels.spills([Kernel(PROGRAM, "int", text)], "sm_90")
    assert len(found) == (count > 100)
