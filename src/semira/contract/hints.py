"""What a caller may pin for one call; part of a statement's structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from semira.contract.plan import INTERSECTIONS

#: Values of the pins that are words; methods that have folders add theirs.
WORDS: dict[str, tuple[str, ...]] = {
    "direction": ("push", "pull"),
    "vector_storage": ("sparse", "bitmap", "full"),
    "matrix_storage": ("csr", "csc", "both"),
    "method": ("push", "pull", "dot", "dense", "hash"),
    "balance": ("edges", "rows", "thread", "warp", "block", "positions", "pieces"),
    "merge": ("atomics",),
    "intersect": INTERSECTIONS,
    "queue": ("global", "block"),
    "mask_order": ("before", "after"),
}


@dataclass(frozen=True, slots=True)
class Hints:
    """Choices left to the planner are None.

    Attributes
    ----------
    direction : {"push", "pull"} or None
        Column-wise or row-wise matrix-vector product; of ``mxm``, whether the entries of the left
        operand are expanded or open positions of the result gather theirs.
    policy : str or None
        Name of a switch policy: ``auto beamer ligra gunrock pushpull18 graphblast``.
    switch_point : float or None
        Fraction that replaces the policy's push-to-pull threshold, in (0, 1].
    vector_storage : {"sparse", "bitmap", "full"} or None
        Storage of the output vector.
    matrix_storage : str or None
        Orientations the operation may build: ``csr``, ``csc`` or ``both``. Or what a matrix-vector
        product and (but ``dense``, ``b2sr``) a sparse times a full matrix walk in their place:
        coordinate entries (``coo``), lines padded to one width (``ell``, ``ellr``, ``pell``,
        ``sell``), every position (``dense``) or tiles of bits (``b2sr``).
    method : str or None
        Method of a product: ``dot``, ``hash``, ``dense`` or ``pull`` of matrices, ``push`` or
        ``pull`` with a vector, or one of those that have folders (`semira.methods`).
    parameters : tuple of (str, object)
        Parameters of that method, by name.
    balance : {"edges", "rows", "thread", "warp", "block", "positions", "pieces"} or None
        How a matrix-vector product, or a sparse times a full matrix, shares out its work.
    merge : str or None
        How a push adds up products that meet (decision 30): ``atomics``, as they come; or by a
        method that has a folder and such a parameter.
    intersect : str or None
        How the two lists of a dot product of matrices meet (decision 39): ``merge``, ``search``, or
        by a method that has a folder.
    queue : {"global", "block"} or None
        Where workers that push ask for places in the list of what they find: in the list itself,
        or in one that they share with their neighbours.
    mask_order : {"before", "after"} or None
        Whether the mask is looked at before or after multiplying.
    early_exit, structure_only : bool or None
        False forbids the shortcut, True demands it (an error where it is not sound).
    operand_reuse : bool or None
        True asserts that the mask holds every vertex the operand ever held, and that each
        was expanded by this statement: pull may then read the mask in the operand's place.
    deterministic : bool or None
        True asks for sums that come out the same from run to run, to the last bit; the option
        ``deterministic`` sets it for every call.
    hot_columns : bool or None
        False forbids to treat the most frequent columns of a matrix apart, True does it whatever
        the matrix (where the product can); the option ``hot_columns`` sets it for every product.
    diagonals : bool or None
        False forbids to keep short rows as bits of the diagonals they have entries on, True does it
        from the first product on (of a large matrix, where the product can); the option
        ``diagonals`` sets it for every product.
    """

    direction: str | None = None
    policy: str | None = None
    switch_point: float | None = None
    vector_storage: str | None = None
    matrix_storage: str | None = None
    method: str | None = None
    balance: str | None = None
    merge: str | None = None
    intersect: str | None = None
    queue: str | None = None
    mask_order: str | None = None
    early_exit: bool | None = None
    structure_only: bool | None = None
    operand_reuse: bool | None = None
    deterministic: bool | None = None
    hot_columns: bool | None = None
    diagonals: bool | None = None
    parameters: tuple[tuple[str, object], ...] = ()


class VectorProductOptions(TypedDict, total=False):
    """`ProductOptions` without ``method``, which pins a product of two matrices."""

    direction: Literal["push", "pull"] | None
    policy: str | None
    switch_point: float | None
    vector_storage: Literal["sparse", "bitmap", "full"] | None
    matrix_storage: (
        Literal["csr", "csc", "both", "coo", "ell", "ellr", "pell", "sell", "dense", "b2sr"] | None
    )
    balance: Literal["edges", "rows", "thread", "warp", "block", "positions", "pieces"] | None
    merge: Literal["atomics", "scatter", "radix", "sort"] | None
    intersect: Literal["merge", "search", "hash", "bitmap"] | None
    queue: Literal["global", "block"] | None
    mask_order: Literal["before", "after"] | None
    early_exit: bool | None
    structure_only: bool | None
    operand_reuse: bool | None
    deterministic: bool | None
    hot_columns: bool | None
    diagonals: bool | None
    bits: Literal["auto", 4, 8, 16, 32] | None
    axb_method: Literal["gustavson", "saxpy", "dot", "hash", "default"]
    nthreads: int | None
    chunk: float | None
    sort: bool | None
    secure_import: bool | None
    gpu_id: int | None
    compression: object


class ProductOptions(VectorProductOptions, total=False):
    """Keyword options of products, for type checkers: ``**opts: Unpack[ProductOptions]``.

    They are the attributes of `Hints`, ``bits`` of tiles (``method="b2sr"``), and python-graphblas'
    descriptor options: ``axb_method`` is a wish, those after it change nothing here.

    Examples
    --------
    >>> pins: ProductOptions = {"direction": "push", "early_exit": False}
    """

    method: str | None


#: Nothing is pinned.
NO_HINTS = Hints()
