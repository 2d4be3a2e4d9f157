"""Formats that are not read: how each is recognised, and the way to a graph from it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from semira.base.errors import FileFormatError
from semira.files.source import Source

#: Blank lines and comment lines, which may stand above the first telling line of a text.
_COMMENTS = re.compile(rb"(?:\s*+[#%][^\n]*+)*+\s*+")


@dataclass(frozen=True, slots=True)
class Foreign:
    """One format, or several that are left in the same way."""

    #: What it is, with its article.
    name: str
    #: What to do instead.
    remedy: str
    #: File names that mean it.
    suffixes: tuple[str, ...] = ()
    #: What the file begins with; of a text after its comments.
    content: re.Pattern[bytes] | None = None
    #: Whether it could be read as an edge list, if somebody insists.
    is_text: bool = True

    def error(self, source: Source) -> FileFormatError:
        """Return the error that names the format and the way."""
        insist = " (format='edgelist' takes it for an edge list)" if self.is_text else ""
        return source.error(f"this is {self.name}: {self.remedy}{insist}")


def _text(name: str, remedy: str, suffixes: str = "", content: bytes | None = None) -> Foreign:
    pattern = None if content is None else re.compile(content, re.IGNORECASE)
    return Foreign(name, remedy, tuple(suffixes.split()), pattern)


def _binary(name: str, remedy: str, suffixes: str = "", content: bytes | None = None) -> Foreign:
    pattern = None if content is None else re.compile(content, re.DOTALL)
    return Foreign(name, remedy, tuple(suffixes.split()), pattern, is_text=False)


def _networkx(reader: str) -> str:
    return f"networkx.{reader}, then gb.io.Graph.from_networkx"


def _pandas(reader: str) -> str:
    return f"pandas.{reader}, then gb.io.Graph.from_pandas"


def _decompress(command: str) -> str:
    return f"decompress it first ({command}); gzip, bzip2 and xz are read as they are"


def _recode(encoding: str) -> str:
    return f"for an edge list give encoding='{encoding}' (semira --encoding), or save it as UTF-8"


_LINES = "write its edges as lines 'source target', which gb.io.read takes"

#: The first row that matches is the answer: special ones stand above general ones.
FOREIGN = (
    # Bytes that no text begins with.
    _binary("a Parquet table", "gb.io.from_arrow(pyarrow.parquet.read_table(path))",
            ".parquet .pq", rb"PAR1"),
    _binary("an Arrow or Feather table", "gb.io.from_arrow(pyarrow.feather.read_table(path))",
            ".arrow .feather", rb"ARROW1|FEA1"),
    _binary("an Excel workbook", _pandas("read_excel"), ".xlsx .xlsm .xls .xlsb",
            rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    _binary("an OpenDocument table", _pandas("read_excel"), ".ods"),
    _binary("an HDF5 file (MATLAB 7.3 writes them too)",
            "read its arrays with h5py, then gb.Matrix.from_coo or from_csr",
            ".h5 .hdf5 .hdf", rb"\x89HDF\r\n"),
    _binary("a MATLAB file", "scipy.io.loadmat, then gb.io.from_scipy_sparse", ".mat",
            rb"MATLAB [0-9]"),
    _binary("a NumPy array", "numpy.load, then gb.io.from_numpy, or gb.Matrix.from_coo of its "
            "columns", ".npy", rb"\x93NUMPY"),
    _binary("a pickle", "unpickling runs code, so do it yourself if you trust the file, and hand "
            "the graph to gb.io.from_networkx, from_scipy_sparse or from_pandas",
            ".pkl .pickle .gpickle .joblib", rb"\x80[\x02-\x05]"),
    _binary("an SQLite database", _pandas("read_sql"), ".db .sqlite .sqlite3",
            rb"SQLite format 3\0"),
    _binary("a serialized graph of the GAP benchmark", "write an edge list with GAP's converter "
            "(-e graph.el)", ".sg .wsg"),
    _binary("a picture or a page for printing, no graph", "look for the file it was drawn from",
            ".png .jpg .jpeg .gif .svg .pdf",
            rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|%PDF-|(?=<)(?:<\?xml.*)?<svg\b"),
    _binary("not a tar archive, although its name says so", "rename it, or fetch it again",
            ".tar .tgz .tbz2 .txz"),
    _binary("compressed with Zstandard", _decompress("zstd -d"), ".zst", rb"\x28\xb5\x2f\xfd"),
    _binary("compressed with LZ4", _decompress("lz4 -d"), ".lz4", rb"\x04\x22\x4d\x18"),
    _binary("a 7-Zip archive", _decompress("7z x"), ".7z", rb"7z\xbc\xaf\x27\x1c"),
    _binary("a RAR archive", _decompress("unrar x"), ".rar", rb"Rar!\x1a\x07"),
    _binary("compressed with compress", _decompress("gunzip"), "", rb"\x1f\x9d"),
    _binary("text in UTF-32", _recode("utf-32"), "",
            rb"\xff\xfe\0\0|\0\0\xfe\xff"),
    _binary("text in UTF-16", _recode("utf-16"), "",
            rb"\xff\xfe|\xfe\xff"),
    # Texts.
    _text("GraphML", _networkx("read_graphml"), ".graphml", rb"<[^\0]*<graphml\b|<graphml\b"),
    _text("GEXF", _networkx("read_gexf"), ".gexf", rb"<[^\0]*<gexf\b|<gexf\b"),
    _text("an HTML page", "it may be what a web server sent in place of the file; fetch the file "
          "itself", ".html .htm", rb"<(?:!doctype\s+html|html|head|body)\b"),
    _text("RDF", "read it with rdflib and number its subjects and objects", ".nt .ttl .rdf",
          rb"<[^<>\s]+>\s+<|@prefix\s"),
    _text("XML", f"parse it and {_LINES}", ".xml .gxl", rb"<"),
    _text("GML", _networkx("read_gml"), ".gml",
          rb"(?:(?:creator|version|comment|directed)\b[^\n\[]*\n\s*)*+graph\s*\["),
    _text("Graphviz DOT", "networkx.nx_pydot.read_dot, then gb.io.Graph.from_networkx", ".dot .gv",
          rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*+(?:strict\s+)?(?:di)?graph\b[^\n{\[]*\s*\{"),
    _text("JSON", "networkx.node_link_graph(json.load(file)), then gb.io.Graph.from_networkx; "
          "for a table, pandas.read_json, then gb.io.from_pandas", ".json .jsonl .ndjson .geojson",
          rb"\{|\[\s*[\[{\]\"0-9-]"),
    _text("Pajek", _networkx("read_pajek"), ".net .paj",
          rb"\*(?:network|vertices|arcs|edges|arcslist|edgeslist|matrix)\b"),
    _text("UCINET DL", "igraph.Graph.Read_DL(path).to_networkx(), then gb.io.Graph.from_networkx",
          ".dl", rb"dl\s+n\s*="),
    _text("METIS", f"its k-th line lists the neighbours of vertex k: {_LINES} (base=1)",
          ".metis .graph"),
    _text("DIMACS for colouring or cliques", "its lines 'e u v' are the edges: grep '^e' in.col | "
          "cut -c3- > out.txt, then gb.io.read('out.txt', base=1, symmetrise=True)", ".col .clq",
          rb"(?:c(?:[ \t][^\n]*)?\n\s*)*+p[ \t]+(?:edge|col)[ \t]+[0-9]"),
    _text("DIMACS for flows", "its lines 'a u v capacity' are the arcs: grep '^a' in.max | "
          "cut -c3- > out.txt, then gb.io.read('out.txt', base=1)", ".max",
          rb"(?:c(?:[ \t][^\n]*)?\n\s*)*+p[ \t]+(?:max|min|asn)[ \t]+[0-9]"),
    _text("DIMACS for a problem other than 'p sp'", _LINES, "",
          rb"(?:c(?:[ \t][^\n]*)?\n\s*)*+p[ \t]+(?!sp\b)[a-z]+[ \t]+[0-9]+[ \t]+[0-9]+\s*\n"),
    _text("a Harwell-Boeing matrix", "scipy.io.hb_read, then gb.io.from_scipy_sparse",
          ".hb .rb .rua .rsa .rra .pua .psa .pra"),
    _text("graph6 or sparse6", _networkx("read_graph6 (read_sparse6)"), ".g6 .s6 .d6",
          rb">>(?:graph|sparse|digraph)6<<"),
    _text("an adjacency graph of Ligra", f"it lists offsets and targets: {_LINES}", "",
          rb"(?:weighted)?adjacencygraph\b"),
    _text("an adjacency list", _networkx("read_adjlist"), ".adjlist"),
    _text("an edge list of NetworkX with attributes in braces", _networkx("read_edgelist") + ", or "
          "write it with data=False or write_weighted_edgelist", "",
          rb"\S+[ \t]+\S+[ \t]+\{[^\n]*\}\s*(?:\n|\Z)"),
    _text("an interaction list of Cytoscape", "read it with format='edgelist', columns=(0, 2)",
          ".sif"),
    _text("a text with comments marked by // or /*", "edge lists mark them with # or %; change or "
          "remove them", "", rb"//|/\*"),
)  # fmt: skip


def by_content(source: Source) -> Foreign | None:
    """Return the format that the first bytes of a file show, if it is one of these."""
    head = source.head()
    text = source.text_head().replace(b"\r", b"\n")
    text = text[_COMMENTS.match(text).end() :]  # type: ignore[union-attr]
    for row in FOREIGN:
        if row.content is not None and row.content.match(text if row.is_text else head):
            return row
    return None


def by_suffix(name: str) -> Foreign | None:
    """Return the format that a file name means, if it is one of these."""
    lowered = name.lower()
    return next((row for row in FOREIGN if lowered.endswith(row.suffixes)), None)
