"""``Matrix.ss``: SuiteSparse's extensions of a matrix."""

from __future__ import annotations

from typing import Any

from semira.base.errors import DimensionMismatch
from semira.frontend import construct, reading
from semira.frontend.checks import expect
from semira.frontend.hints import parse_hints
from semira.frontend.ss import order as ordering
from semira.frontend.ss.common import ObjectExtensions
from semira.frontend.ss.forms import with_transfers
from semira.frontend.ss.order import scan
from semira.frontend.ss.tiles import check_grid, concat, flatten, reshape


@with_transfers("matrix")
class MatrixExtensions(ObjectExtensions):
    """What ``A.ss`` offers; ``import_*`` and ``deserialize`` on the class, ``Matrix.ss``.

    Computed where the object lives: on a GPU there, else on the host with NumPy. Export, head and
    iter* copy to the host.
    """

    __slots__ = ()

    kind = "matrix"

    @property
    def orientation(self) -> str:
        """``rowwise`` or ``columnwise``: how it is stored."""
        return "rowwise" if self._arrays().orientation == "csr" else "columnwise"

    def build_diag(self, vector: Any, k: int = 0, **opts: Any) -> None:
        """Replace the contents by `vector` on the k-th diagonal.

        Raises
        ------
        DomainMismatch
            `vector` is no Vector.
        DimensionMismatch
            The matrix is not square of size ``vector.size + abs(k)``.
        """
        expect(vector, ("vector",), "vector", "Matrix.ss.build_diag")
        size = vector.size + abs(k)
        if self._parent.shape != (size, size):
            rows, cols = self._parent.shape
            raise DimensionMismatch(f"the matrix is {rows} x {cols} but must be {size} x {size}")
        self._parent(**opts) << vector.diag(k)

    def build_scalar(self, rows: Any, columns: Any, value: Any) -> None:
        """Fill an empty matrix with one value at (rows, columns); positions may repeat.

        Raises
        ------
        OutputNotEmpty
            There are entries.
        EmptyObject
            `value` is None or an empty Scalar.
        """
        given = self._checked_scalar(value)
        parent = self._parent
        arrays = construct.matrix_from_coo(
            rows, columns, given, parent.dtype, parent.nrows, parent.ncols, None
        )
        reading.replace_contents(parent, arrays)

    def concat(self, tiles: Any, **opts: Any) -> None:
        """Replace the contents by a grid of tiles, see `semira.ss.concat`.

        Raises
        ------
        DimensionMismatch
            The grid has not the shape of the matrix.
        """
        parse_hints(opts)
        parent = self._parent
        check_grid(tiles)
        made = concat(tiles, parent.dtype)
        if made.shape != parent.shape:
            nrows, ncols = made.shape
            raise DimensionMismatch(
                f"the tiles make {nrows} x {ncols}, the matrix is {parent.nrows} x {parent.ncols}"
            )
        reading.replace_contents(parent, made)

    def flatten(self, order: str = "rowwise", *, name: str | None = None, **opts: Any) -> Any:
        """Return the matrix as one Vector, row after row or column after column.

        Parameters
        ----------
        order : {"rowwise", "columnwise"}

        Raises
        ------
        InvalidValue
            It has more than 2**60 positions; `order` is unknown.
        """
        parse_hints(opts)
        return self._wrapped(flatten(self._parent, order, self._named("flatten")), name)

    def reshape(
        self,
        nrows: Any,
        ncols: Any = None,
        order: str = "rowwise",
        *,
        inplace: bool = False,
        name: str | None = None,
        **opts: Any,
    ) -> Any:
        """Return the entries in another shape with as many positions.

        Parameters
        ----------
        nrows, ncols : int, or one pair
            -1 stands for what is left.
        order : {"rowwise", "columnwise"}
            How positions are counted in both shapes.
        inplace : bool
            Change this matrix and return None.

        Raises
        ------
        InvalidValue
            The shapes do not have the same number of positions.
        """
        parse_hints(opts)
        made = reshape(self._parent, nrows, ncols, order, self._named("reshape"))
        if not inplace:
            return self._wrapped(made, name)
        reading.replace_contents(self._parent, made)
        return None

    def scan(
        self, op: Any = "plus", order: str = "rowwise", *, name: str | None = None, **opts: Any
    ) -> Any:
        """Return the prefix scan of each row (column): running results over its entries.

        ``C_ij = A_ij1 (+) A_ij2 (+) ... (+) A_ij`` over the entries of row i up to column j.

        Parameters
        ----------
        op : Monoid, binary operator that has one, or str
        order : {"rowwise", "columnwise"}

        Raises
        ------
        DomainMismatch
            `op` is no monoid, or does not work with the dtype.

        Notes
        -----
        On the host from left to right: floating-point results are those of a loop. On a GPU partial
        results are put together in another, fixed order. O(nvals).

        Examples
        --------
        >>> from semira import Matrix
        >>> Matrix.from_dense([[1, 2, 3], [4, 5, 6]]).ss.scan().to_dense().tolist()
        [[1, 3, 6], [4, 9, 15]]
        """
        parse_hints(opts)
        return self._wrapped(scan(self._parent, op, order, self._named("scan")), name)

    def selectk(self, how: str, k: int, order: str = "rowwise", *, name: str | None = None) -> Any:
        """Return at most `k` entries of each row (column), where they are.

        Parameters
        ----------
        how : "first", "last" or "random"
            A random choice is without replacement, every entry as likely as any other.
        k : int
        order : {"rowwise", "columnwise"}

        Raises
        ------
        InvalidValue
            `how` or `order` is unknown, or `k` is negative.
        """
        ordering.check_how(how, ("random", "first", "last"))
        made = ordering.select_k(self._parent, how, k, order, self._named("selectk"))
        return self._wrapped(made, name)

    def compactify(
        self,
        how: str = "first",
        k: int | None = None,
        order: str = "rowwise",
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
    ) -> Any:
        """Return the matrix with the entries of each row (column) moved to its front.

        Parameters
        ----------
        how : "first", "last", "smallest", "largest" or "random"
            Which entries come first: ``last`` and ``largest`` go backwards. ``random`` chooses at
            random and keeps the order.
        k : int, optional
            Entries kept in each row, and number of columns of the result; None: as many as the
            fullest row has.
        order : {"rowwise", "columnwise"}
        reverse : bool
            Turn around what was kept.
        asindex : bool
            Return where the entries were (UINT64) instead of their values.

        Raises
        ------
        InvalidValue
            `how` or `order` is unknown, or `k` is negative.

        Examples
        --------
        >>> from semira import Matrix
        >>> A = Matrix.from_coo([0, 0, 1], [3, 7, 5], [30, 10, 20])
        >>> A.ss.compactify("smallest").to_coo()[2].tolist()
        [10, 30, 20]
        """
        made = ordering.compactify(
            self._parent, how, k, order, self._named("compactify"), reverse=reverse,
            asindex=asindex,
        )  # fmt: skip
        return self._wrapped(made, name)

    def sort(
        self,
        op: Any = "lt",
        order: str = "rowwise",
        *,
        values: bool = True,
        permutation: bool = True,
        **opts: Any,
    ) -> tuple[Any, Any]:
        """Return each row (column) sorted, moved to its front, and where each entry was.

        Parameters
        ----------
        op : binary operator or str
            A comparison: it returns BOOL. Entries that compare equal keep their order. ``lt le gt
            ge`` are sorted by value (NaN last, with ``gt`` and ``ge`` first), others by one call
            per comparison, on a GPU in a kernel.
        order : {"rowwise", "columnwise"}
        values, permutation : bool
            Whether each of the results is wanted; None in its place otherwise.

        Returns
        -------
        Matrix, Matrix of UINT64

        Raises
        ------
        DomainMismatch
            `op` does not return BOOL.
        """
        parse_hints(opts)
        made = ordering.sort(
            self._parent, op, order, self._named("sort"), values=values, permutation=permutation
        )
        return self._wrapped(made[0]), self._wrapped(made[1])

    def unpack_hyperhash(self, *, compute: bool = False, name: str | None = None, **_: Any) -> None:
        """Return None: hypersparse matrices are searched, they have no hash."""
        del compute, name
