"""What graphs there are, and where they come from."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from semira.base.errors import DomainMismatch, InvalidValue

#: A matrix of the SuiteSparse collection, listed here or not: its group and its name.
_GROUP_AND_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*/[A-Za-z0-9][\w.+-]*")


@dataclass(frozen=True, slots=True)
class Dataset:
    """One named graph.

    Attributes
    ----------
    name : str
        Such as ``"Newman/karate"``.
    source : {"suitesparse", "snap", "dimacs9"}
        The collection it belongs to.
    url : str
        What is downloaded.
    file : str
        Path of the graph's file below the folder of graphs.
    member : str or None
        The graph's file inside of a downloaded archive; None if the download is the file.
    kind : str
        Road, social, web, ...
    vertices, entries : int or None
        Size of the matrix; None where it is not listed.
    sha256 : str or None
        Checksum of the download; None if unknown until the first fetch.
    options : dict
        How `semira.io.read` has to read it.
    """

    name: str
    source: str
    url: str
    file: str
    member: str | None = None
    kind: str = ""
    vertices: int | None = None
    entries: int | None = None
    sha256: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


_Row = tuple[str, str, int | None, int | None]

#: group/name, kind, vertices, entries. Symmetric matrices count both directions.
_SUITESPARSE: tuple[_Row, ...] = (
    ("AG-Monien/3elt", "mesh", 4720, 27444),
    ("AG-Monien/airfoil1", "mesh", 4253, 24578),
    ("AG-Monien/whitaker3", "mesh", 9800, 57978),
    ("DIMACS10/belgium_osm", "road", 1441295, 3099940),
    ("DIMACS10/chesapeake", "food web", 39, 340),
    ("DIMACS10/coAuthorsDBLP", "collaboration", 299067, 1955352),
    ("DIMACS10/delaunay_n10", "mesh", 1024, 6112),
    ("DIMACS10/delaunay_n12", "mesh", 4096, 24528),
    ("DIMACS10/delaunay_n14", "mesh", 16384, 98244),
    ("DIMACS10/delaunay_n16", "mesh", 65536, 393150),
    ("DIMACS10/europe_osm", "road", 50912018, 108109320),
    ("DIMACS10/kron_g500-logn16", "Kronecker", 65536, None),
    ("DIMACS10/kron_g500-logn18", "Kronecker", 262144, None),
    ("DIMACS10/kron_g500-logn20", "Kronecker", 1048576, None),
    ("DIMACS10/kron_g500-logn21", "Kronecker", 2097152, 182082942),
    ("DIMACS10/luxembourg_osm", "road", 114599, 239332),
    ("DIMACS10/rgg_n_2_24_s0", "random geometric", 16777216, 265114400),
    ("DIMACS10/road_usa", "road", 23947347, 57708624),
    ("GAP/GAP-kron", "Kronecker", None, None),
    ("GAP/GAP-road", "road", 23947347, None),
    ("GAP/GAP-twitter", "social", None, None),
    ("GAP/GAP-urand", "Erdos-Renyi", None, None),
    ("GAP/GAP-web", "web", None, None),
    ("Gleich/minnesota", "road", 2642, 6606),
    ("HB/1138_bus", "power grid", 1138, 4054),
    ("HB/ash292", "least squares", 292, 2208),
    ("HB/bcspwr10", "power grid", 5300, 21842),
    ("HB/bcsstk13", "structural", 2003, 83883),
    ("HB/west0067", "chemical", 67, 294),
    ("LAW/cnr-2000", "web", 325557, 3216152),
    ("LAW/hollywood-2009", "collaboration", 1139905, None),
    ("LAW/indochina-2004", "web", 7414866, None),
    ("LAW/uk-2002", "web", 18520486, None),
    ("Mycielski/mycielskian8", "Mycielski", 191, 4720),
    ("Mycielski/mycielskian10", "Mycielski", 767, 44392),
    ("Mycielski/mycielskian12", "Mycielski", 3071, 407200),
    ("Mycielski/mycielskian13", "Mycielski", 6143, 1227742),
    ("Newman/as-22july06", "internet", 22963, 96872),
    ("Newman/dolphins", "social", 62, 318),
    ("Newman/karate", "social", 34, 156),
    ("Newman/netscience", "collaboration", 1589, 5484),
    ("Newman/polbooks", "co-purchase", 105, 882),
    ("Newman/power", "power grid", 4941, 13188),
    ("Pajek/EVA", "ownership", 8497, 6726),
    ("SNAP/cit-HepPh", "citation", 34546, 421578),
    ("SNAP/email-Enron", "communication", 36692, 367662),
    ("SNAP/p2p-Gnutella31", "peer to peer", 62586, 147892),
    ("SNAP/roadNet-CA", "road", 1971281, 5533214),
    ("SNAP/soc-LiveJournal1", "social", 4847571, 68993773),
    ("SNAP/soc-Slashdot0902", "social", 82168, 948464),
    ("SNAP/web-Google", "web", 916428, 5105039),
)

#: file, kind, vertices, edges listed, whether each edge is listed in one direction only.
_SNAP: tuple[tuple[str, str, int | None, int | None, bool], ...] = (
    ("email-Eu-core", "communication", 1005, 25571, False),
    ("facebook_combined", "social", 4039, 88234, True),
    ("loc-gowalla_edges", "social", 196591, 1900654, False),
)

#: region, vertices, arcs.
_DIMACS9: tuple[tuple[str, int, int], ...] = (
    ("NY", 264346, 733846),
    ("BAY", 321270, 800172),
    ("COL", 435666, 1057066),
    ("FLA", 1070376, 2712798),
    ("NW", 1207945, 2840208),
    ("NE", 1524453, 3897636),
    ("CAL", 1890815, 4657742),
    ("LKS", 2758119, 6885658),
    ("E", 3598623, 8778114),
    ("W", 6262104, 15248146),
    ("CTR", 14081816, 34292496),
    ("USA", 23947347, 58333344),
)


def _of_suitesparse(
    name: str, kind: str = "", vertices: int | None = None, entries: int | None = None
) -> Dataset:
    title = name.partition("/")[2]
    return Dataset(
        name,
        "suitesparse",
        f"https://sparse.tamu.edu/MM/{name}.tar.gz",
        f"suitesparse/{name}.mtx",
        f"{title}/{title}.mtx",
        kind,
        vertices,
        entries,
    )


def _rows() -> Iterator[Dataset]:
    for row in _SUITESPARSE:
        yield _of_suitesparse(*row)
    for title, kind, vertices, entries, is_halved in _SNAP:
        url = f"https://snap.stanford.edu/data/{title}.txt.gz"
        options = {"symmetrise": True} if is_halved else {}
        yield Dataset(
            f"snap/{title}", "snap", url, f"snap/{title}.txt.gz",
            kind=kind, vertices=vertices, entries=entries, options=options,
        )  # fmt: skip
    for region, vertices, entries in _DIMACS9:
        file = f"USA-road-d.{region}.gr.gz"
        url = f"https://www.diag.uniroma1.it/challenge9/data/USA-road-d/{file}"
        yield Dataset(
            f"dimacs9/USA-road-d.{region}", "dimacs9", url, f"dimacs9/{file}",
            kind="road", vertices=vertices, entries=entries,
        )  # fmt: skip


#: The graphs listed here, by name.
CATALOGUE: dict[str, Dataset] = {row.name: row for row in _rows()}

SOURCES = ("suitesparse", "snap", "dimacs9")


def names(source: str | None = None) -> list[str]:
    """Return the names of the graphs that are listed, perhaps of one source only.

    Raises
    ------
    InvalidValue
        There is no such source.

    Examples
    --------
    >>> "Newman/karate" in names("suitesparse")
    True
    """
    if source is not None and source not in SOURCES:
        raise InvalidValue(f"no source {source!r}; choose one of {', '.join(SOURCES)}")
    return [row.name for row in CATALOGUE.values() if source in (None, row.source)]


def info(name: str) -> Dataset:
    """Return what is known of a graph.

    Parameters
    ----------
    name : str
        A listed name or its last part, such as ``"karate"``; or group and name of any matrix
        of the SuiteSparse collection, such as ``"Arenas/email"``.

    Raises
    ------
    InvalidValue
        It is neither; the message has names that look similar.
    DomainMismatch
        It is no str.

    Examples
    --------
    >>> info("karate").url
    'https://sparse.tamu.edu/MM/Newman/karate.tar.gz'
    """
    if not isinstance(name, str):
        raise DomainMismatch(
            f"a graph has a name such as 'karate', got {type(name).__name__}; "
            "semira.datasets.names() lists them"
        )
    if name in CATALOGUE:
        return CATALOGUE[name]
    short = {full.partition("/")[2]: row for full, row in CATALOGUE.items()}
    if name in short:
        return short[name]
    if _GROUP_AND_NAME.fullmatch(name) and name.partition("/")[0] not in SOURCES:
        return _of_suitesparse(name)
    similar = difflib.get_close_matches(name, [*short, *CATALOGUE], n=3)
    hint = f"did you mean {' or '.join(similar)}? " if similar else ""
    raise InvalidValue(
        f"no graph {name!r}; {hint}datasets.names() or semira datasets list has the names, and any "
        f"matrix of the SuiteSparse collection is GROUP/NAME"
    )
