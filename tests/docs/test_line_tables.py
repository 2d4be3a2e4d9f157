"""Lines of code are counted of an algorithm's file, and of those that it calls."""

from __future__ import annotations

from importlib import import_module

from tests.docs.line_tables import FOLDER, PACKAGE, SHARED, called_by, lines_of_code


def test_called_files_are_found_through_others() -> None:
    assert called_by("bfs") == {"levels", "searches", "sequential"}
    called = {
        "delta_stepping",
        "moving_window",
        "route_trees",
        "routes",
        "sequential",
        "sssp_choice",
    }
    assert called_by("sssp") == called
    assert called_by("label_propagation") == {"ballots", "neighbours", "sequential", "voting"}


def test_called_files_are_those_whose_functions_a_file_has() -> None:
    for path in FOLDER.glob("*.py"):
        if path.stem == "__init__":
            continue
        module = import_module(f"{PACKAGE}.{path.stem}")
        homes = {getattr(each, "__module__", "") for each in vars(module).values()}
        named = {home.rpartition(".")[2] for home in homes if home.startswith(f"{PACKAGE}.")}
        assert named - {path.stem, *SHARED} <= called_by(path.stem), path.stem


def test_docstrings_comments_and_imports_are_no_code() -> None:
    text = (FOLDER / "k_hop.py").read_text("utf-8")
    assert 0 < lines_of_code("k_hop") < len(text.splitlines()) // 2
