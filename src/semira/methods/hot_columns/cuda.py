"""Values at frequent columns in shared memory of the GPU: the pull, and who has it."""

from __future__ import annotations

from semira.backends.cuda.lower import LaunchShape
from semira.backends.cuda.lower.variants import SharesWalk, VariantPull
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.kernel_choice import Choice, LaunchFacts, is_early
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.shares import LONGEST_MIDDLING
from semira.methods.hot_columns.plan import ROW, Figures
from semira.methods.hot_columns.table import HOT, MAKE, Hot, make_hot, most_table_bytes, table_bytes

HEADERS = ("pull.cuh",)
ROWS = ""
WORDS = 4

#: As many threads in one block: it fills shared memory.
SHAPE = LaunchShape(threads=1024, variant=ROW.name)

#: What a program may ask for: kernels of these shapes, and these files of kernels.
SHAPES, MODULES = (SHAPE,), (MAKE,)

#: Bytes of values that shared memory is read in one piece for (kernels/pull.cuh).
WIDTHS = (1, 2, 4, 8)

#: Bytes of the values that `make` keeps columns for: FP32.
WIDTH = 4


def serves(pull: VariantPull) -> bool:
    """Return whether there are kernels for a pull."""
    return pull.width in WIDTHS


def write(walk: SharesWalk) -> None:
    """Write the pull, and before it what fills the table in device memory."""
    walk.fill(f"gather_hot(team, gather.present, gather.u, {walk.lines});")
    walk.pull(", true")


def shared_bytes(shared: int, room: int) -> int:
    """Return how much a table may take: nothing if it does not fit a multiprocessor."""
    del room
    return most_table_bytes(shared)


def make(matrix: CudaMatrix, orientation: str) -> Hot:
    """Return the hot columns of a matrix whatever their share, as a pin asks for them."""
    figures = (0,) * len(ROW.figures)
    pull = VariantPull(ROW.name, 0, orientation, figures, WIDTH, reads=False, limits=())
    return make_hot(matrix.runtime, matrix, pull)


def choose(launch: LaunchFacts) -> Choice:
    """Find out what a run has of hot columns; make the copies that will pay."""
    runtime, things = launch.runtime, launch.things
    shared, is_open = 0, False
    for pull in launch.pulls:
        matrix: CudaMatrix = things[pull.slot]
        figures = Figures(*pull.figures)
        if not figures.asks(matrix.most, matrix.sides(pull.orientation)[0]):
            continue
        # Otherwise the order of sums would depend on whether there is a copy yet.
        if pull.alone and _is_middling(pull, matrix, runtime):
            continue
        found = matrix.companion(HOT, pull.orientation)
        if found is None or not found.answers(pull):
            if is_early(pull, figures.products, things) or runtime.is_capturing():
                is_open = True
                continue
            found = make_hot(runtime, matrix, pull)
        if found.serves(pull):
            shared = max(shared, table_bytes(found.count, pull.width))
    # A kernel with tables takes whatever copy there is: none may be made for smaller values.
    copies = ((things[pull.slot].companion(HOT, pull.orientation), pull) for pull in launch.pulls)
    if any(copy and copy.coded is not None and not copy.serves(pull) for copy, pull in copies):
        shared = 0
    return Choice(SHAPE if shared else None, shared, is_open)


def _is_middling(pull: VariantPull, matrix: CudaMatrix, runtime: Runtime) -> bool:
    """Return whether a product alone sums rows without the table (kernels/vxm/middling.cuh).

    The longest row is asked for once, which waits; while a graph is captured nobody waits.
    """
    if runtime.is_capturing() and not matrix.knows_longest(pull.orientation):
        return True
    return matrix.longest_line(pull.orientation) <= LONGEST_MIDDLING
