"""``semira compile``: fill the cache of compiled kernels ahead of time; a GPU is not needed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from semira.algorithms.registry import REGISTRY
from semira.algorithms.row import load
from semira.backends import kernel_files
from semira.backends.cuda.jit.compile import toolchain
from semira.backends.registry import backend_for
from semira.base.dtypes import lookup_dtype
from semira.base.errors import DeviceUnavailable, InvalidValue
from semira.base.settings import settings
from semira.base.text import did_you_mean
from semira.cli.ahead import PATTERN, Done, Request, compile_all
from semira.cli.options import JsonOption, option
from semira.cli.output import note, print_json, print_pairs, print_table, say, seconds

_ARCH = re.compile(r"sm_\d{2,3}[af]?")


class Target(StrEnum):
    """Devices that compile kernels."""

    cpu = "cpu"
    cuda = "cuda"


class Processor(StrEnum):
    """Processors that machine code is made for."""

    this = "this"
    generic = "generic"


def compile_ahead(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM...",
            help="Such as bfs or pagerank. Default: all of them.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        Target | None,
        option("What to compile for: cpu or cuda. Default: cuda with --arch, else cpu."),
    ] = None,
    dtype: Annotated[
        str, typer.Option(metavar="A,B,...", help="Of graphs; BOOL is one without weights.")
    ] = f"FP64,{PATTERN}",
    arch: Annotated[
        str | None,
        option(
            "GPUs to compile for, such as sm_80,sm_90. Default: the one of this machine.", "A,B,..."
        ),
    ] = None,
    cpu: Annotated[
        Processor,
        typer.Option(help="generic: machine code that every processor of this kind runs."),
    ] = Processor.this,
    small: Annotated[
        bool, typer.Option("--small", help="On cuda: leave out kernels for large graphs alone.")
    ] = False,
    jobs: Annotated[int | None, option("Processes. Default: one for each core.", min=1)] = None,
    as_json: JsonOption = False,
) -> None:
    """Compile the kernels of algorithms ahead of time.

    They go into the folder of SEMIRA_CACHE_DIR, from which later runs load them: build a
    container, or prepare the nodes of a cluster, and no run waits for a compiler. For a GPU, none
    has to be there. A kernel belongs to the versions of Python, Numba or NVRTC, and to the
    processor or the architecture; where one is compiled all the same, the log says why.

    Examples
    --------
    semira compile bfs pagerank
    semira compile --arch sm_80,sm_90
    semira compile bfs --dtype FP32,INT64 --cpu generic
    """
    names = [_algorithm(each) for each in algorithms or REGISTRY]
    dtypes = [lookup_dtype(each).name for each in _parts(dtype, "--dtype")]
    is_cuda = device is Target.cuda or (device is None and arch is not None)
    if arch is not None and not is_cuda:
        raise typer.BadParameter("--arch names GPUs: leave it out, or add --device cuda")
    if is_cuda and cpu is not Processor.this:
        raise typer.BadParameter("--cpu is for --device cpu")
    archs = _architectures(arch) if is_cuda else ()
    if cpu is Processor.generic:
        # Numba reads it in the processes that compile, and in this one when it is imported.
        os.environ["NUMBA_CPU_NAME"] = "generic"
    request = Request(names, dtypes, archs, not small, jobs or settings().threads, _progress)
    record, done = _compiled(request)
    for reason in dict.fromkeys(text for each in done for text in each.refused):
        note(f"left out: {reason}")
    _show(record, done, as_json=as_json)


def _compiled(request: Request) -> tuple[dict[str, Any], list[Done]]:
    """Return what was compiled, in words for JSON, and what each task did."""
    started, before = time.perf_counter(), _megabytes()
    done = compile_all(request)
    _note(request)
    record = {
        "device": "cuda" if request.archs else "cpu",
        "algorithms": list(request.names),
        "dtypes": list(request.dtypes),
        "architectures": list(request.archs),
        "compiled": sum(each.compiled for each in done),
        "found": sum(each.found for each in done),
        "seconds": time.perf_counter() - started,
        "megabytes_added": _megabytes() - before,
        "megabytes": _megabytes(),
        "folder": str(settings().cache_dir),
    }
    return record, done


def _parts(text: str, option: str) -> list[str]:
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise typer.BadParameter(f"{option} {text!r}: give names separated by commas")
    return list(dict.fromkeys(found))


def _algorithm(name: str) -> str:
    """Return the name of a function, which may be given by that of its command."""
    for row in REGISTRY.values():
        if name in (row.name, row.typed):
            return row.name
    known = [name for row in REGISTRY.values() for name in (row.name, row.typed)]
    advice = did_you_mean(name, known) or f"; choose among {', '.join(REGISTRY)}"
    raise InvalidValue(f"no algorithm is called {name!r}{advice}")


def _architectures(text: str | None) -> Sequence[str]:
    if text is not None:
        found = _parts(text, "--arch")
        for each in found:
            if not _ARCH.fullmatch(each):
                raise typer.BadParameter(f"--arch {each!r}: give names such as sm_80,sm_90")
        return found
    try:
        return (backend_for("cuda").runtime.arch,)  # type: ignore[attr-defined]
    except DeviceUnavailable as error:
        raise typer.BadParameter(
            f"no GPU is here whose architecture is known ({error}); name it: --arch sm_90"
        ) from None


def _progress(done: Done) -> None:
    what = f"{done.compiled} compiled" if done.compiled else "in the cache"
    say(f"{done.title}: {what}, {seconds(done.seconds)}")


def _note(request: Request) -> None:
    """Note what was compiled, for whoever misses a kernel later."""
    what = {"algorithms": list(request.names), "dtypes": list(request.dtypes)}
    if not request.archs:
        kernel_files.note_ahead("cpu", what, load("semira.backends.cpu.jit:toolchain")())
    for arch in request.archs:
        sizes = {"sizes": ["all" if request.large else "small"]}
        kernel_files.note_ahead("cuda", what | sizes, toolchain(arch))


def _megabytes() -> float:
    """Return the size of the kernels in the cache."""
    folder = settings().cache_dir
    kept = [*folder.glob("cpu/*/*.nbc"), *folder.glob("cpu/*/*.o"), *folder.glob("cuda/*.cubin")]
    return sum(path.stat().st_size for path in kept) / 1e6


def _show(record: dict[str, Any], done: Sequence[Done], *, as_json: bool) -> None:
    if as_json:
        print_json(record)
        return
    if not record["architectures"]:
        rows = [(each.title, each.compiled, each.found, seconds(each.seconds)) for each in done]
        print_table(("algorithm", "compiled", "in the cache", "time"), rows)
        typer.echo()
    shown = {name: ", ".join(value) for name, value in record.items() if isinstance(value, list)}
    print_pairs(
        [
            ("device", record["device"]),
            ("algorithms", f"{len(record['algorithms'])} of {len(REGISTRY)}"),
            ("dtypes", shown["dtypes"]),
            *([("architectures", shown["architectures"])] if record["architectures"] else []),
            ("kernels compiled", record["compiled"]),
            ("in the cache before", record["found"]),
            ("time", seconds(record["seconds"])),
            ("size", f"{record['megabytes']:.1f} MB, {record['megabytes_added']:.1f} MB of it new"),
            ("folder", record["folder"]),
        ]
    )
