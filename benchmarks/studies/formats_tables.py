"""Tables of the study of formats: times by storage, copies, and the textbook's own figures."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import Study, time_of
from benchmarks.studies import formats
from benchmarks.studies.formats import STORAGES
from semira.bench.record import Record
from semira.bench.report import checked, figure

#: Peers in the order of the table.
PEERS = ("numpy dense", "scipy csr", "cupy dense", "cusparse csr")

#: The textbook's whole table: (rows, density) -> microseconds of a dense product on its CPU and on
#: its GPU, and of its kernels for COO, CSR and ELL.
TEXTBOOK: dict[tuple[int, float], tuple[float | None, ...]] = {
    (1024, 0.1): (1390.0, None, 38.375, 10.964, 15.038),
    (2048, 0.1): (5020.0, 8872.0, 136.445, 21.846, 24.254),
    (2048, 0.01): (5061.0, 8872.0, 11.319, 8.447, 8.839),
    (4096, 0.1): (20371.0, 70466.0, 925.923, 58.5, 44.541),
}

#: Its columns, and the matching storages and peers here.
_COLUMNS = (
    ("CPU", "numpy dense"),
    ("GPU", "cupy dense"),
    ("COO", "coo"),
    ("CSR", "csr"),
    ("ELL", "ell"),
)

_Case = tuple[str, int, float]


def _by_case(records: Sequence[Record]) -> dict[_Case, dict[str, Record]]:
    """Return the records of each (product, rows, density), by storage or peer."""
    found: dict[_Case, dict[str, Record]] = {}
    for record in records:
        if record.kind == "formats":
            case = (record.kernel, record.dataset.n, record.options["density"])
            name = record.options.get("storage", record.library)
            found.setdefault(case, {})[name] = record
    return found


def _microseconds(record: Record | None) -> str:
    taken_s = None if record is None else time_of(record)
    return "-" if not taken_s else figure(1e6 * taken_s)


def _call_us(record: Record | None) -> str:
    taken_s = None if record is None else record.median_s
    return "-" if not taken_s else figure(1e6 * taken_s)


def formats_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: microseconds of each product by storage and by peer.

    Device times on the GPU; whole calls of peers on the host.
    """
    head = ["product", "rows", "density", "entries", *STORAGES, *PEERS, "verified"]
    rows = []
    for (kernel, n, density), named in _by_case(records).items():
        some = next(iter(named.values()))
        wrong = [checked(each) for each in named.values() if each.verified is False]
        cells = [_microseconds(named.get(name)) for name in (*STORAGES, *PEERS)]
        entries = f"{some.dataset.nvals:,}"
        rows.append([kernel, str(n), f"{density:g}", entries, *cells, *(wrong[:1] or ["yes"])])
    return head, rows


def calls_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: microseconds of whole calls, until the result is complete."""
    head = ["product", "rows", "density", *STORAGES, *PEERS]
    rows = []
    for (kernel, n, density), named in _by_case(records).items():
        cells = [_call_us(named.get(name)) for name in (*STORAGES, *PEERS)]
        rows.append([kernel, str(n), f"{density:g}", *cells])
    return head, rows


def copies_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: bytes of each copy, bytes kept besides the rows, and build time.

    Kept bytes are those that the first product with a vector added to a matrix by rows (dense for
    ``dense``); build time is the time of that product minus that of later ones.
    """
    head = ["rows", "density", "storage", "KiB", "kept beside, KiB", "placing, ms", "making, ms"]
    rows = []
    for (kernel, n, density), named in _by_case(records).items():
        for storage in STORAGES:
            record = named.get(storage)
            if kernel != "mxv" or record is None or record.median_s is None:
                continue
            taken, kept = record.facts["bytes"], record.facts["kept"]
            rows.append(
                [
                    str(n), f"{density:g}", storage, figure(taken / 1024), figure(kept / 1024),
                    figure(1e3 * record.convert_s), figure(1e3 * record.build_s),
                ]
            )  # fmt: skip
    return head, rows


def textbook_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the textbook's microseconds and ours, for its matrices."""
    head = ["rows", "density"]
    for theirs, ours in _COLUMNS:
        head += [f"textbook {theirs}", ours]
    rows = []
    for (kernel, n, density), named in _by_case(records).items():
        printed = TEXTBOOK.get((n, density))
        if kernel != "mxv" or printed is None:
            continue
        row = [str(n), f"{density:g}"]
        for theirs_us, (_, ours) in zip(printed, _COLUMNS, strict=True):
            row += [figure(theirs_us), _microseconds(named.get(ours))]
        rows.append(row)
    return head, rows


def failures_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: cases without a time, and why; equal ones once."""
    found: dict[tuple[str, str], str] = {}
    for (kernel, _, _), named in _by_case(records).items():
        for name, record in named.items():
            if record.median_s is None:
                found.setdefault((kernel, name), record.note)
    return ["product", "what", "why"], [[*case, why] for case, why in found.items()]


STUDY = Study(
    formats.__doc__ or "",
    formats.FormatsOptions,
    formats.trial,
    {
        "Microseconds (on a GPU, the device's)": formats_table,
        "Microseconds of whole calls": calls_table,
        "Copies": copies_table,
        "Beside the textbook, microseconds": textbook_table,
        "Not measured": failures_table,
    },
    formats.points,
)
