"""``Vector.ss``: SuiteSparse's extensions of a vector."""

from __future__ import annotations

from typing import Any

from semira.base.errors import DimensionMismatch
from semira.frontend import construct, reading
from semira.frontend.checks import bad_type, expect
from semira.frontend.hints import parse_hints
from semira.frontend.ss import order as ordering
from semira.frontend.ss.common import ObjectExtensions
from semira.frontend.ss.forms import with_transfers
from semira.frontend.ss.order import scan
from semira.frontend.ss.tiles import concat, is_vector_list, reshape

#: A vector is one line.
_ONE = "rowwise"


@with_transfers("vector")
class VectorExtensions(ObjectExtensions):
    """What ``v.ss`` offers; ``import_*`` and ``deserialize`` on the class, ``Vector.ss``.

    See `MatrixExtensions`.
    """

    __slots__ = ()

    kind = "vector"

    def build_diag(self, matrix: Any, k: int = 0, **opts: Any) -> None:
        """Replace the contents by the k-th diagonal of `matrix`.

        Raises
        ------
        DomainMismatch
            `matrix` is no Matrix.
        DimensionMismatch
            The vector has not the length of that diagonal.
        """
        expect(matrix, ("matrix",), "matrix", "Vector.ss.build_diag")
        diagonal = matrix.diag(k)
        if diagonal.size != self._parent.size:
            raise DimensionMismatch(
                f"diagonal {k} has {diagonal.size} positions, the vector {self._parent.size}"
            )
        self._parent(**opts) << diagonal

    def build_scalar(self, indices: Any, value: Any) -> None:
        """Fill an empty vector with one value at `indices`, which may repeat.

        Raises
        ------
        OutputNotEmpty
            There are entries.
        EmptyObject
            `value` is None or an empty Scalar.
        """
        given = self._checked_scalar(value)
        arrays = construct.vector_from_coo(
            indices, given, self._parent.dtype, self._parent.size, None
        )
        reading.replace_contents(self._parent, arrays)

    def concat(self, tiles: Any, **opts: Any) -> None:
        """Replace the contents by vectors one after the other, see `semira.ss.concat`.

        Raises
        ------
        DomainMismatch
            `tiles` is not a list of vectors.
        DimensionMismatch
            Together they are longer or shorter than the vector.
        """
        parse_hints(opts)
        if not is_vector_list(tiles):
            raise bad_type(tiles[0], "Vector", "tiles", "Vector.ss.concat")
        made = concat(tiles, self._parent.dtype)
        (size,) = made.shape
        if size != self._parent.size:
            raise DimensionMismatch(
                f"the tiles have {size} positions, the vector {self._parent.size}"
            )
        reading.replace_contents(self._parent, made)

    def reshape(
        self,
        nrows: Any,
        ncols: Any = None,
        order: str = "rowwise",
        *,
        name: str | None = None,
        **opts: Any,
    ) -> Any:
        """Return the vector as a Matrix with as many positions.

        Parameters
        ----------
        nrows, ncols : int, or one pair
            -1 stands for what is left.
        order : {"rowwise", "columnwise"}
            Whether it fills rows or columns.

        Raises
        ------
        InvalidValue
            The shape has not as many positions.
        """
        parse_hints(opts)
        made = reshape(self._parent, nrows, ncols, order, self._named("reshape"))
        return self._wrapped(made, name)

    def scan(self, op: Any = "plus", *, name: str | None = None, **opts: Any) -> Any:
        """Return the prefix scan: at each entry the monoid over all entries up to it.

        Parameters
        ----------
        op : Monoid, binary operator that has one, or str

        Raises
        ------
        DomainMismatch
            `op` is no monoid, or does not work with the dtype.

        Examples
        --------
        >>> from semira import Vector
        >>> Vector.from_coo([1, 3, 4], [2, 3, 4]).ss.scan("times").to_dict()
        {1: 2, 3: 6, 4: 24}
        """
        parse_hints(opts)
        return self._wrapped(scan(self._parent, op, _ONE, self._named("scan")), name)

    def selectk(self, how: str, k: int, *, name: str | None = None) -> Any:
        """Return at most `k` entries, where they are.

        Parameters
        ----------
        how : "first", "last", "smallest", "largest" or "random"
        k : int

        Raises
        ------
        InvalidValue
            `how` is unknown, or `k` is negative.
        """
        ordering.check_how(how)
        made = ordering.select_k(self._parent, how, k, _ONE, self._named("selectk"))
        return self._wrapped(made, name)

    def compactify(
        self,
        how: str = "first",
        size: int | None = None,
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
    ) -> Any:
        """Return the entries moved to the front; see `MatrixExtensions.compactify`.

        Parameters
        ----------
        how : "first", "last", "smallest", "largest" or "random"
        size : int, optional
            Entries kept, and size of the result; None: all.
        reverse, asindex : bool

        Raises
        ------
        InvalidValue
            `how` is unknown, or `size` is negative.
        """
        made = ordering.compactify(
            self._parent, how, size, _ONE, self._named("compactify"), reverse=reverse,
            asindex=asindex,
        )  # fmt: skip
        return self._wrapped(made, name)

    def sort(
        self, op: Any = "lt", *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Any, Any]:
        """Return the sorted values at the front, and where each was; see `MatrixExtensions.sort`.

        Returns
        -------
        Vector, Vector of UINT64

        Raises
        ------
        DomainMismatch
            `op` does not return BOOL.
        """
        parse_hints(opts)
        made = ordering.sort(
            self._parent, op, _ONE, self._named("sort"), values=values, permutation=permutation
        )
        return self._wrapped(made[0]), self._wrapped(made[1])
