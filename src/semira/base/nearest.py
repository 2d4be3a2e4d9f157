"""The nearest known name to a word, for error messages."""

from __future__ import annotations

from collections.abc import Iterable

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
