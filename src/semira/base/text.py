"""Text for terminals and records; and names that were nearly right."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Controls (C0, DEL and C1), marks that turn the direction of text, line and paragraph separators,
#: and halves of surrogate pairs, which stand in file names for bytes that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff]")

_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def printable(text: str) -> str:
    r"""Return `text` with every character that could control a terminal written as an escape.

    The escapes are Python's: ``\n``, ``\x1b``, ``\u202e``. Backslashes stay as they are, so the
    result is for people to read; it is not meant to be decoded.

    Examples
    --------
    >>> print(printable("a\x1b[31mb\n"), printable("Zürich"))
    a\x1b[31mb\n Zürich
    """
    return _UNSAFE.sub(_escape, text)


def printable_json(text: str) -> str:
    r"""Return a JSON document with such characters as JSON's own escapes; its value is the same.

    `text` is what `json.dumps` wrote: controls below U+0020 inside of strings are escapes already,
    and the line ends between them stay.

    Examples
    --------
    >>> print(printable_json('"a\u202eb"'))
    "a\u202eb"
    """
    return _UNSAFE.sub(
        lambda found: found[0] if found[0] < " " else f"\\u{ord(found[0]):04x}", text
    )


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


#: How alike a name must be: more than ``minus`` is like ``min_plus``.
_NEARLY = 0.7


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message that names the nearest known name; empty without one.

    Examples
    --------
    >>> did_you_mean("sqr", ["sqrt", "exp"])
    "; did you mean 'sqrt'?"
    >>> did_you_mean("what", ["sqrt", "exp"])
    ''
    """
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1, cutoff=_NEARLY)
    return f"; did you mean {near[0]!r}?" if near else ""
