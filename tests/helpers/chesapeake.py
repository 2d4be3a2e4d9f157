"""The graph chesapeake of the 10th DIMACS challenge: 39 vertices, 170 edges."""

import numpy as np

#: Neighbours with larger numbers of each vertex from 0.
_NEIGHBOURS = """
6 7 10 11 12 21 22 33 34 36 38 ; 6 7 8 10 11 12 21 22 34 35 38 ; 13 14 15 16 17 35 38 ; 16 35 36 38
5 33 34 38 ; 6 34 38 ; 7 8 10 11 12 34 38 ; 8 9 19 20 21 22 23 34 37 38 ; 9 34 35 38 ; 34 35 38
18 34 35 38 ; 18 25 34 35 37 38 ; 34 35 37 38 ; 24 25 26 27 28 35 38 ; 18 24 25 26 27 28 35 38
18 26 35 38 ; 35 38 ; 18 24 25 26 28 31 35 38 ; 32 35 37 38 ; 35 37 38 ; 32 35 37 38
26 27 29 30 31 32 34 35 37 38 ; 29 31 32 34 35 37 38 ; 35 37 38 ; 35 37 38 ; 35 37 38
29 35 37 38 ; 35 37 38 ; 35 37 38 ; 35 37 38 ; 31 35 37 38 ; 35 37 38 ; 35 37 38
36 ; 35 36
"""


def edges() -> tuple[np.ndarray, np.ndarray]:
    """Return both directions of every edge: 340 entries, vertices from 0."""
    rows = _NEIGHBOURS.replace("\n", " ; ").strip(" ;").split(";")
    pairs = [(i, int(j)) for i, row in enumerate(rows) for j in row.split()]
    upper = np.array(pairs)
    assert len(upper) == 170
    both = np.concatenate([upper, upper[:, ::-1]])
    return both[:, 0], both[:, 1]
