"""Formats that are not read are named, with the way to a graph; none is taken for edges."""

from __future__ import annotations

import io
import json
import pickle

import networkx as nx
import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.errors import FileFormatError
from semira.files import read_edges
from semira.files.foreign import FOREIGN
from semira.files.registry import FORMATS

BOM = b"\xef\xbb\xbf"


def written(name: str, **attributes: object) -> bytes:
    """Return what NetworkX writes of a path of three vertices."""
    out = io.BytesIO()
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 2, "weight")
    getattr(nx, f"write_{name}")(graph, out, **attributes)
    return out.getvalue()


def parquet() -> bytes:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as writer

    out = arrow.BufferOutputStream()
    writer.write_table(arrow.table({"a": [0], "b": [1]}), out)
    return bytes(out.getvalue())


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(4))
    return out.getvalue()


#: Content without a telling name: what the error says.
CONTENT = {
    "graphml": (lambda: written("graphml"), "this is GraphML: networkx.read_graphml"),
    "graphml without a declaration": (lambda: b"<graphml></graphml>\n", "this is GraphML"),
    "graphml behind a comment": (lambda: b"<!-- x -->\n<graphml>\n", "this is GraphML"),
    "gexf": (lambda: written("gexf"), "this is GEXF: networkx.read_gexf"),
    "gml": (lambda: written("gml"), "this is GML: networkx.read_gml"),
    "gml on one line": (
        lambda: b"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]\n",
        "this is GML",
    ),
    "gml of igraph": (
        lambda: b'Creator "igraph version 0.10"\nVersion 1\ngraph\n[\n  directed 0\n',
        "this is GML",
    ),
    "gml with a comment": (lambda: b"# made by hand\ngraph [\n", "this is GML"),
    "gml with old line ends": (lambda: b"Creator x\rgraph [\r", "this is GML"),
    "pajek": (lambda: written("pajek"), "this is Pajek: networkx.read_pajek"),
    "pajek with a comment": (lambda: b"% x\n*Vertices 3\n1 2\n", "this is Pajek"),
    "pajek arcs": (lambda: b"*Arcs\n1 2\n", "this is Pajek"),
    "node-link json": (
        lambda: json.dumps(nx.node_link_data(nx.path_graph(2))).encode(),
        "this is JSON: networkx.node_link_graph",
    ),
    "json list": (lambda: b"[[0, 1], [1, 2]]\n", "this is JSON"),
    "json lines": (lambda: b'{"source": 0, "target": 1}\n', "this is JSON"),
    "json with a mark": (lambda: BOM + b" {}\n", "this is JSON"),
    "dot": (lambda: b"digraph G {\n a -> b;\n}\n", "this is Graphviz DOT"),
    "dot, strict, after a comment": (lambda: b"// x\nstrict graph {\n a -- b\n}", "DOT"),
    "slashes": (lambda: b"// hello\n0 1\n", "comments marked by //"),
    "c comment": (lambda: b"/* hello */\n0 1\n", "comments marked by //"),
    "colouring": (lambda: b"c x\np edge 3 2\ne 1 2\ne 2 3\n", "DIMACS for colouring"),
    "colouring, other word": (lambda: b"p col 3 1\ne 1 2\n", "DIMACS for colouring"),
    "flow": (lambda: b"c x\nc\np max 3 1\nn 1 s\na 1 2 5\n", "DIMACS for flows"),
    "a problem other than": (lambda: b"p tw 3 1\n1 2\n", "DIMACS for a problem other than"),
    "ligra": (lambda: b"AdjacencyGraph\n3\n2\n0\n", "adjacency graph of Ligra"),
    "edge list of networkx": (lambda: b"0 1 {}\n1 2 {}\n", "attributes in braces"),
    "the same with weights": (lambda: b"0 1 {'weight': 2}\n", "write_weighted_edgelist"),
    "rdf": (lambda: b"<http://a> <http://p> <http://b> .\n", "this is RDF"),
    "html": (lambda: b"<!DOCTYPE html>\n<html><body>404", "this is an HTML page"),
    "xml": (lambda: b"<?xml version='1.0'?>\n<edges/>\n", "this is XML"),
    "ucinet": (lambda: b"dl n=3 format=edgelist1\n", "this is UCINET DL"),
    "graph6": (lambda: b">>graph6<<Bw\n", "graph6"),
    "parquet": (parquet, "this is a Parquet table: gb.io.from_arrow"),
    "arrow": (lambda: b"ARROW1\0\0" + bytes(9), "this is an Arrow or Feather table"),
    "old feather": (lambda: b"FEA1" + bytes(9), "this is an Arrow or Feather table"),
    "compress": (lambda: b"\x1f\x9d\x90" + bytes(9), "compressed with compress"),
    "pickle": (lambda: pickle.dumps(nx.path_graph(2)), "this is a pickle: unpickling runs code"),
    "numpy": (npy, "this is a NumPy array"),
    "hdf5": (lambda: b"\x89HDF\r\n\x1a\n" + bytes(20), "this is an HDF5 file"),
    "matlab": (lambda: b"MATLAB 5.0 MAT-file, Platform: x", "MATLAB file: scipy.io.loadmat"),
    "excel": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(20), "pandas.read_excel"),
    "sqlite": (lambda: b"SQLite format 3\0" + bytes(20), "this is an SQLite database"),
    "picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(20), "this is a picture"),
    "svg": (lambda: b"<?xml version='1.0'?><svg width='1'>", "this is a picture"),
    "zstd": (lambda: b"\x28\xb5\x2f\xfd" + bytes(9), "Zstandard: decompress it first"),
    "lz4": (lambda: b"\x04\x22\x4d\x18" + bytes(9), "compressed with LZ4"),
    "7z": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(9), "7-Zip"),
    "rar": (lambda: b"Rar!\x1a\x07\x01\0", "RAR"),
    "utf-16": (
        lambda: "0 1\n1 2\n".encode("utf-16"),
        "UTF-16: for an edge list give encoding=",
    ),
    "utf-16, big end first": (lambda: b"\xfe\xff\0000\0 ", "text in UTF-16"),
    "utf-32": (lambda: "0 1\n".encode("utf-32"), "text in UTF-32"),
}


@every("case", CONTENT)
@every("name", ["g", "g.txt", "g.csv"])
def test_content_of_another_format_is_named(tmp_path, case, name):
    make, reason = CONTENT[case]
    path = tmp_path / name
    path.write_bytes(make())
    with pytest.raises(FileFormatError) as caught:
        read_edges(path)
    assert reason in str(caught.value)


def test_every_row_with_content_is_tried():
    contents = [make() for make, _ in CONTENT.values()]
    rows = [row for row in FOREIGN if row.content is not None]
    untried = [row.name for row in rows if not any(map(row.content.match, contents))]
    assert untried == []


@every(("suffix", "row"), [(suffix, row) for row in FOREIGN for suffix in row.suffixes])
@every("compressed", ["", ".gz", ".XZ"])
def test_suffix_of_another_format_is_named(tmp_path, suffix, row, compressed):
    path = tmp_path / f"g{suffix}{compressed}"
    path.write_bytes(b"0 1\n1 2\n")
    with pytest.raises(FileFormatError) as caught:
        read_edges(path)
    assert row.name in str(caught.value)
    assert row.remedy in str(caught.value)
    # Whoever insists is served.
    assert read_edges(path, format="edgelist").nnz == 2


def test_no_suffix_has_two_meanings():
    suffixes = [suffix for row in (*FORMATS.values(), *FOREIGN) for suffix in row.suffixes]
    assert len(suffixes) == len(set(suffixes))


@every(
    "data",
    [
        b"graph theory\nset logic\n",
        b"a b 1\nb c 2\n",
        b"p q\nq r\n",
        b"c d\np edge\n",
        b"user_[1] user_2\n",
        b"[a] b\n",
        b"version 1\ngraph paper\n",
        b"1 2 3\n",
        b"# {\n0 1\n",
        b"% graph [\n0 1\n",
        b"PAR2 b\n",
        b"x <unk>\n",
    ],
)
def test_edge_lists_stay_edge_lists(data):
    assert read_edges(io.BytesIO(data)).nnz >= 1


def test_message_offers_the_edge_list_to_texts_only():
    with pytest.raises(FileFormatError, match="format='edgelist'"):
        read_edges(io.BytesIO(b"<a> b\n"))
    with pytest.raises(FileFormatError) as caught:
        read_edges(io.BytesIO(b"PAR1" + bytes(9)))
    assert "edgelist" not in str(caught.value)
    assert read_edges(io.BytesIO(b"<a> b\n"), format="edgelist").labels.tolist() == ["<a>", "b"]


def test_text_in_a_stated_encoding_is_read():
    data = "Zürich Bern\nBern Genf\n".encode("utf-16")
    assert read_edges(io.BytesIO(data), encoding="utf-16").labels.tolist()[0] == "Zürich"


def test_a_format_of_ours_is_read_under_a_foreign_name(tmp_path):
    mtx = b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"
    for name in ("g.json", "g.graph", "g.net.gz"):
        path = tmp_path / name
        path.write_bytes(mtx)
        assert read_edges(path).nnz == 1


def test_long_comments_cost_no_time():
    head = b"# " + b"x" * 5000 + b"\n" + b"# \n" * 3000 + b"0 1\n"
    assert read_edges(io.BytesIO(head)).nnz == 1
