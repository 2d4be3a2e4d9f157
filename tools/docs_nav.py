"""A hook of MkDocs: the menu has every algorithm of the registry, and every application."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from semira.algorithms.registry import REGISTRY  # noqa: E402 - of this checkout
from semira.apps.registry import rows as applications  # noqa: E402


def sections() -> list[dict[str, list[dict[str, str]]]]:
    """Return the pages by title, in sections; algorithms on one page share a title."""
    found: dict[str, dict[str, str]] = {}
    for row in REGISTRY.values():
        pages = found.setdefault(row.section, {})
        before = f"{pages[row.page]}, " if row.page in pages else ""
        pages[row.page] = before + row.title
    return [
        {
            name: [
                {title[0].upper() + title[1:]: f"algorithms/{page}"}
                for page, title in pages.items()
            ]
        }
        for name, pages in found.items()
    ]


def on_config(config: Any) -> Any:
    """Add the pages to the menu."""
    (menu,) = (entry["Algorithms"] for entry in config.nav if "Algorithms" in entry)
    menu += sections()
    for entry in config.nav:
        entry.get("Applications", []).extend(_applications() if "Applications" in entry else [])
    return config


def _applications() -> list[dict[str, str]]:
    """Return the pages of applications by title; those on one page share a title."""
    pages: dict[str, list[str]] = {}
    for row in applications().values():
        pages.setdefault(row.page, []).append(row.title)
    return [
        {", ".join(titles).capitalize(): f"apps/{page}"} for page, titles in sorted(pages.items())
    ]
