"""The kernel sources that algorithms are known to ask for, and threads that compile them.

An algorithm asks for its kernels one after another, since it runs in between. When the cache lacks
one of them, all that the algorithm is known to ask for are compiled in parallel.
"""

from __future__ import annotations

import functools
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

#: What ``python -m tests.helpers.known_texts --record`` has found, compressed JSON.
FILE = "known_texts.xz"

_T = TypeVar("_T")


class Known(NamedTuple):
    """A text that an algorithm asks for."""

    #: Of the kernel, in the cache.
    name: str
    #: Kernel file that includes what the source calls.
    root: str
    offset_type: str
    #: What was generated.
    source: str


def known_texts(algorithm: str, dtype: str) -> list[Known]:
    """Return the texts of an algorithm for matrices of a dtype, in the order of asking.

    Of dtypes that were not recorded those texts that know nothing of values.

    Examples
    --------
    >>> [text.root for text in known_texts("k_hop", "BOOL")]
    ['semira.cuh']
    """
    texts, calls = _recorded()
    exact = calls.get(f"{algorithm} {dtype}")
    if exact is not None:
        return [texts[number] for number in exact]
    return [
        texts[number] for number in calls.get(f"{algorithm} FP64", ()) if not texts[number].source
    ]


@functools.cache
def _recorded() -> tuple[list[Known], dict[str, list[int]]]:
    """Return all texts, and the numbers of those of each call."""
    # A Python without lzma, or a package without the file, compiles one after another.
    with suppress(ImportError, OSError):
        import lzma

        packed = resources.files(__package__).joinpath(FILE).read_bytes()
        found = json.loads(lzma.decompress(packed))
        return [Known(*text) for text in found["texts"]], found["calls"]
    return [], {}


class SideBySide(Generic[_T]):
    """Results by path, which threads work on before anybody asks for them."""

    def __init__(self) -> None:
        self._futures: dict[Path, Future[_T]] = {}
        # A forked child has no such threads.
        self._process = 0

    def __contains__(self, path: Path) -> bool:
        """Return whether a result is being made, or waits to be taken."""
        return path in self._futures and self._process == os.getpid()

    def begin(self, tasks: Mapping[Path, Callable[[], _T]], threads: int) -> None:
        """Begin tasks, in their order, in threads that end with them.

        A process that ends waits for those that have begun; the others never run.
        """
        self._process = os.getpid()
        waiting = deque((Future[_T](), task) for task in tasks.values())
        self._futures |= {path: each[0] for path, each in zip(tasks, waiting, strict=True)}
        # Those of an executor would run all tasks before the process ends.
        for _ in range(min(threads, len(waiting))):
            threading.Thread(target=_work, args=(waiting,), name="semira-compile").start()

    def take(self, path: Path) -> _T | None:
        """Return the result of a path, once; waits for it if a thread works on it.

        None if no thread does, or has begun to: then none will. Raises what the task raised.
        """
        future = self._futures.pop(path, None)
        if future is None or self._process != os.getpid() or future.cancel():
            return None
        return future.result()


def _work(waiting: deque[tuple[Future[_T], Callable[[], _T]]]) -> None:
    """Run tasks until none waits, or the process ends."""
    while threading.main_thread().is_alive():
        try:
            future, task = waiting.popleft()
        except IndexError:
            return
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(task())
            except BaseException as error:  # noqa: BLE001 - whoever asks gets it
                future.set_exception(error)


class Ahead(Generic[_T]):
    """Compiles what announced algorithms will ask for, once the cache lacks one of the kernels."""

    def __init__(
        self,
        file_of: Callable[[Known, str], Path],
        compile_text: Callable[[Known, str], _T],
        is_quick: Callable[[Known], bool],
        texts_of: Callable[[str, str], list[Known]],
    ) -> None:
        self._file_of = file_of
        self._compile_text = compile_text
        self._is_quick = is_quick
        self._texts_of = texts_of
        #: Whether the matrices are small, by algorithm and dtype, until a kernel is missing.
        #: An algorithm comes before those that it calls: its known texts include theirs.
        self._expected: dict[tuple[str, str], bool] = {}
        self._files = functools.cache(self._files_of)
        self._results: SideBySide[_T] = SideBySide()

    def expect(self, algorithm: str, dtype: str, *, is_small: bool) -> None:
        """Note which algorithm runs now, on matrices of which dtype, and whether they are small."""
        self._expected[algorithm, dtype] = is_small

    def take(self, missing: Path, arch: str, threads: int) -> _T | None:
        """Return a kernel that the cache lacks, or None: then the caller has to compile it.

        If an expected algorithm will ask for it, threads begin with all that this one will ask for.
        """
        if threads > 1 and missing not in self._results:
            self._begin_with(missing, arch, threads)
        return self._results.take(missing)

    def _begin_with(self, missing: Path, arch: str, threads: int) -> None:
        for key in list(self._expected):
            if missing.name in self._files(*key, arch):
                tasks = self._tasks(*key, arch, is_small=self._expected.pop(key))
                self._results.begin(tasks, threads)
                return

    def _files_of(self, algorithm: str, dtype: str, arch: str) -> frozenset[str]:
        """Return the names of the files of the cache that an algorithm is known to ask for."""
        return frozenset(
            self._file_of(text, arch).name for text in self._texts_of(algorithm, dtype)
        )

    def _tasks(
        self, algorithm: str, dtype: str, arch: str, *, is_small: bool
    ) -> dict[Path, Callable[[], _T]]:
        """Return a task for each known kernel that the cache lacks, by its file.

        The longest texts come first: what takes longest then does not begin last.
        """
        tasks: dict[Path, Callable[[], _T]] = {}
        texts = self._texts_of(algorithm, dtype)
        for text in sorted(texts, key=lambda text: len(text.source), reverse=True):
            # Large matrices take other shapes of long programs, and wait for optimised ones.
            if not is_small and self._is_quick(text):
                continue
            path = self._file_of(text, arch)
            if not path.exists() and path not in self._results:
                tasks[path] = functools.partial(self._compile_text, text, arch)
        return tasks
