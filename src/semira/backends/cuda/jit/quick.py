"""What quick kernels leave out of a program's text."""

from __future__ import annotations

import re

#: A copy of a walk, as `lower` writes it for where no vector lacks an entry.
_COPY = re.compile(
    r"^( *)if \(.+\) \{\n(?:\1  .*\n)*?\1  walk_full_words\(.+\n\1  done = .+\n\1\}\n", re.MULTILINE
)

#: Sums of floating-point numbers, whose order would change.
_SUMS = re.compile(r"merge<\w+_F[PC]\d+>\(")


def without_copies(source: str) -> str:
    """Return a program without the copies of walks for vectors that lack no entry.

    Where little is optimised, a copy is no faster than the walk that takes all vectors, and costs
    as much to compile. Results are the same: copies with floating-point sums stay.

    Examples
    --------
    >>> print(without_copies('''unsigned done = 0;
    ... if (full_v5) {
    ...   auto at = [&](auto by_list, const Index i, const Always live) {
    ...     store(v5, i);
    ...   };
    ...   walk_full_words(team, v5.size, at);
    ...   done = static_cast<unsigned>(v5.size) / kWarp;
    ... }
    ... walk_words(team, v5.size, at, done);'''))
    unsigned done = 0;
    walk_words(team, v5.size, at, done);
    """
    return _COPY.sub(lambda copy: copy[0] if _SUMS.search(copy[0]) else "", source)
