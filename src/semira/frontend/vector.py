"""Vectors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semira.base.dtypes import FP64, lookup_dtype
from semira.base.errors import DimensionMismatch, InvalidIndex, InvalidValue, OutputNotEmpty
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import visible
from semira.engine.values import Value
from semira.formats import MatrixArrays, RawArrays, VectorArrays
from semira.frontend import construct, lending, products, raw, reading
from semira.frontend.aggregators import aggregate
from semira.frontend.checks import as_diagonal, check_key
from semira.frontend.expr import Expression, Template, expression
from semira.frontend.infix import Operand
from semira.frontend.kinds import EXPRESSIONS, OBJECTS
from semira.frontend.objects import Collection
from semira.frontend.operators import as_monoid
from semira.frontend.ss import access
from semira.frontend.updater import Updater, extract_expression
from semira.ops.meaning import cast_array

if TYPE_CHECKING:
    from semira.frontend.indexing import Position, Positions
    from semira.frontend.mask import Mask
    from semira.frontend.matrix import Matrix, MatrixExpression
    from semira.frontend.matrix_operand import MatrixOperand
    from semira.frontend.operators import SemiringLike
    from semira.frontend.scalar import ScalarExpression


class VectorOperand(Operand["VectorExpression"]):
    """What a Vector and a VectorExpression can both do."""

    __slots__ = ()

    kind = "vector"
    ndim = 1

    @property
    def size(self) -> int:
        """Number of positions."""
        return self.shape[0]

    @property
    def nvals(self) -> Any:
        """Number of entries: an int (synchronises), or a symbolic Scalar while recording."""
        return reading.count_entries(self)

    def vxm(self, other: MatrixOperand, op: SemiringLike = "plus_times") -> VectorExpression:
        """Return ``w = u (+).(*) A``: w_j is the sum over i of u_i (*) A_ij.

        Parameters
        ----------
        other : Matrix, shape (size, m)
        op : Semiring or str

        Returns
        -------
        VectorExpression, shape (m,)

        Raises
        ------
        DimensionMismatch
            ``other.nrows`` is not the size of this vector.
        """
        return products.vxm(self, other, op)  # type: ignore[no-any-return]

    def inner(self, other: VectorOperand, op: SemiringLike = "plus_times") -> ScalarExpression:
        """Return the scalar ``u (+).(*) v``."""
        return products.inner(self, other, op)  # type: ignore[no-any-return]

    def outer(self, other: VectorOperand, op: Any = "times") -> MatrixExpression:
        """Return the matrix ``C_ij = op(u_i, v_j)``; see `compose.outer`."""
        from semira.frontend.compose import outer

        return outer(self, other, op)  # type: ignore[no-any-return]

    def reposition(self, offset: Any, *, size: Any = None) -> VectorExpression:
        """Return the vector with every entry moved by `offset`; what leaves it is dropped."""
        from semira.frontend.compose import reposition

        return reposition(self, (offset,), (size,))  # type: ignore[no-any-return]

    def reduce(self, op: Any = "plus", *, allow_empty: bool = True) -> ScalarExpression:
        """Return the monoid over all entries.

        Parameters
        ----------
        op : Monoid, binary operator with a monoid, Aggregator, or str
        allow_empty : bool
            Without entries: an empty Scalar if true, else the identity.
        """
        aggregated: ScalarExpression | None = aggregate(op, self, "vector", allow_empty=allow_empty)
        if aggregated is not None:
            return aggregated
        monoid = as_monoid(op, self.dtype)
        params = () if allow_empty else (("identity", True),)
        return expression(  # type: ignore[no-any-return]
            Template("reduce", (self,), "scalar", monoid.type, (), (), monoid, params=params)
        )

    def gather(self, index: VectorOperand) -> VectorExpression:
        """Return ``w_i = self[index_i]``.

        Parameters
        ----------
        index : Vector of integers, any size
            Positions; the result has its size, and an entry wherever ``index`` has one and
            this vector has an entry at that position.

        Returns
        -------
        VectorExpression, shape (index.size,)

        Raises
        ------
        IndexOutOfBound
            When it runs: a position lies outside this vector.

        Examples
        --------
        >>> parent = Vector.from_dense([1, 2, 2])
        >>> parent.gather(parent).new().to_dense().tolist()
        [2, 2, 2]
        """
        _check_index_vector(index)
        return expression(  # type: ignore[no-any-return]
            Template("gather", (self, index), "vector", self.dtype, (index.size,), ((1, 0),))
        )

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """Return the matrix with this vector on its k-th diagonal.

        Raises
        ------
        TypeError
            `k` is not an integer.
        """
        k = as_diagonal(k)
        size = construct.check_size(self.size + abs(k), "nrows")
        return expression(  # type: ignore[no-any-return]
            Template(
                "diag", (self,), "matrix", self.dtype, (size, size), (size, size),
                params=(("k", k),),
            )
        ).new(name=name)  # fmt: skip

    def get(self, index: Any, default: Any = None) -> Any:
        """Return the value at `index`, or `default` without an entry there."""
        value = self[reading.check_position(index, self.size, "vector")].new().value
        return default if value is None else value

    @overload
    def __getitem__(self, keys: Position | tuple[Position]) -> ScalarExpression: ...
    @overload
    def __getitem__(self, keys: Positions | tuple[Positions]) -> VectorExpression: ...

    def __getitem__(self, keys: Any) -> Any:
        return extract_expression(self, keys, "scalar")

    def __contains__(self, index: Any) -> bool:
        if isinstance(index, tuple):
            raise TypeError(f"Invalid index for `in`: {index!r}; a Vector takes one position")
        check_key(index)
        position = reading.check_position(index, self.size, "vector")
        return self[position].new().value is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_coo(values=False)[0])

    @tells_shortage("Vector.to_coo")
    def to_coo(
        self,
        dtype: Any = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
        device: str | None = None,
    ) -> tuple[Any, Any]:
        """Return (indices, values) as NumPy arrays; a part not wanted is None.

        Indices are uint64 and increasing. On `device` ``"cuda"`` both are CuPy arrays, with
        indices of 32 bits.

        Raises
        ------
        DeviceMismatch, InvalidValue
            The vector is placed elsewhere; `device` has no memory of its own.
        """
        del sort
        if device is not None:
            lent = lending.lend(self, "coo", device, dtype)
            return lent.indices[0] if indices else None, lent.values if values else None
        arrays = reading.vector_arrays(self, "to_coo")
        positions = arrays.entry_indices().astype(np.uint64) if indices else None
        stored = reading.cast_values(arrays.entry_values(), dtype) if values else None
        return positions, stored

    @tells_shortage("Vector.to_dense")
    def to_dense(
        self,
        fill_value: Any = None,
        dtype: Any = None,
        *,
        device: str | None = None,
        **opts: Any,
    ) -> Any:
        """Return a NumPy array, missing entries replaced by `fill_value`.

        On `device` ``"cuda"`` a CuPy array.

        Raises
        ------
        TypeError
            Entries are missing and there is no `fill_value`.
        DeviceMismatch, InvalidValue
            As `to_coo`.
        """
        del opts
        if device is not None:
            return lending.lend_dense(self, device, fill_value, dtype)
        arrays = reading.vector_arrays(self, "to_dense")
        complete = arrays.nvals == arrays.size
        dense = reading.empty_dense(self, fill_value, dtype, complete=complete)
        dense[arrays.entry_indices()] = cast_array(arrays.entry_values(), dense.dtype)
        return visible(dense)

    @tells_shortage("Vector.to_dict")
    def to_dict(self) -> dict[int, Any]:
        """Return ``{index: value}`` with Python numbers."""
        arrays = reading.vector_arrays(self, "to_dict")
        values = visible(arrays.entry_values())
        pairs = zip(arrays.entry_indices().tolist(), values.tolist(), strict=True)
        return dict(pairs)

    def isequal(self, other: Any, *, check_dtype: bool = False, **opts: Any) -> bool:
        """Whether both have the same size, entries and values."""
        del opts
        return reading.equal(self, other, check_dtype=check_dtype)

    def isclose(
        self,
        other: Any,
        *,
        rel_tol: float = 1e-7,
        abs_tol: float = 0.0,
        check_dtype: bool = False,
        **opts: Any,
    ) -> bool:
        """Whether both have the same entries and close values."""
        del opts
        return reading.equal(self, other, check_dtype=check_dtype, rel_tol=rel_tol, abs_tol=abs_tol)


def _check_index_vector(index: Any) -> None:
    if getattr(index, "kind", None) != "vector" or not index.dtype.is_integer:
        raise InvalidIndex("gather and scatter need a Vector of integers as index")


class Vector(VectorOperand, Collection["VectorExpression"]):
    """A sparse vector.

    Parameters
    ----------
    dtype : DataType, str or type
        Default FP64.
    size : int
        Number of positions, up to 2**60.
    name : str, optional

    Examples
    --------
    >>> v = Vector.from_coo([1, 3], [2.0, 4.0], size=5)
    >>> (v + v).new().to_dict()
    {1: 4.0, 3: 8.0}
    """

    __slots__ = ()

    _name_counter = count()

    #: Import, export, order, pieces: see `semira.frontend.ss.vector.VectorExtensions`.
    ss = access.VECTOR

    def __init__(self, dtype: Any = FP64, size: Any = 0, *, name: str | None = None) -> None:
        wanted = lookup_dtype(dtype)
        self._value = Value("vector", wanted, (construct.check_size(size, "size"),))
        self.name = name or self._next_name()

    @classmethod
    def _next_name(cls) -> str:
        return f"v_{next(cls._name_counter)}"

    @classmethod
    def _of(
        cls,
        arrays: MatrixArrays | VectorArrays | RawArrays,
        name: str | None = None,
        device: str | None = None,
    ) -> Vector:
        return cls._wrap(Value.of(arrays), name, device)

    @classmethod
    def from_coo(
        cls,
        indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        size: Any = None,
        dup_op: Any = None,
        name: str | None = None,
        device: str | None = None,
    ) -> Vector:
        """Return the vector with `values` at `indices`.

        Parameters
        ----------
        indices : array of integers, shape (nvals,)
            In any order.
        values : array, shape (nvals,), or scalar
            A scalar makes an iso vector: one value is stored.
        dtype : optional
            That of `values` if None.
        size : int, optional
            Largest index + 1 if None.
        dup_op : binary operator, monoid or str, optional
            Folds the values of a repeated index.
        device : "reference", "cpu" or "cuda", optional
            Place the object there. Arrays in the memory of a GPU place it on ``"cuda"``.

        Raises
        ------
        IndexOutOfBound
            An index is negative or not below `size`.
        InvalidValue
            An index repeats and there is no `dup_op`, or a value does not fit into `dtype`.
        DeviceMismatch
            Arrays are in the memory of a GPU, the object should be elsewhere.
        """
        arrays = raw.vector_from_coo(indices, values, dtype, size, dup_op, device)
        return cls._of(arrays, name, device)

    @classmethod
    def from_pairs(
        cls,
        pairs: Any,
        dtype: Any = None,
        *,
        size: Any = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Vector:
        """Return the vector of ``(index, value)`` pairs."""
        if isinstance(pairs, np.ndarray):
            raise TypeError("pairs must be an iterable, not an array; use `Vector.from_coo`")
        pairs = [tuple(pair) for pair in pairs]
        if any(len(pair) != 2 for pair in pairs):
            raise InvalidValue("Each item in the pairs must be (index, value)")
        if size is None and not pairs:
            raise InvalidValue("There are no pairs. Unable to infer size.")
        indices = [index for index, _ in pairs]
        values = [value for _, value in pairs]
        return cls.from_coo(indices, values, dtype, size=size, dup_op=dup_op, name=name)

    @classmethod
    def from_dict(
        cls, d: dict[int, Any], dtype: Any = None, *, size: Any = None, name: str | None = None
    ) -> Vector:
        """Return the vector of ``{index: value}``."""
        size = 0 if size is None and not d else size
        return cls.from_pairs(d.items(), dtype, size=size, name=name)

    @classmethod
    def from_scalar(
        cls, value: Any, size: Any, dtype: Any = None, *, name: str | None = None, **opts: Any
    ) -> Vector:
        """Return the full vector with `value` everywhere; a single value is stored."""
        del opts
        value = construct.as_value(value, "Vector.from_scalar", dtype).value
        return cls._of(construct.vector_from_scalar(value, size, dtype), name)

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        name: str | None = None,
        device: str | None = None,
        **opts: Any,
    ) -> Vector:
        """Return the vector of a dense array; `missing_value` marks positions without entry.

        Masked elements of a masked array have no entry either. `device` as in `from_coo`.

        Raises
        ------
        InvalidValue
            A value does not fit into `dtype`.

        Examples
        --------
        >>> Vector.from_dense(np.ma.array([1, 2, 3], mask=[0, 1, 0])).to_dict()
        {0: 1, 2: 3}
        """
        del opts
        return cls._of(raw.from_dense(1, values, missing_value, dtype, device), name, device)

    def build(
        self,
        indices: Any,
        values: Any,
        *,
        dup_op: Any = None,
        clear: bool = False,
        size: Any = None,
    ) -> None:
        """Fill an empty vector with `values` at `indices`.

        Raises
        ------
        OutputNotEmpty
            There are entries already and `clear` is false.
        """
        reading.refuse_recorded(self, "build")
        if not clear and self.nvals:
            raise OutputNotEmpty(f"{self.name} holds {self.nvals} entries; pass clear=True")
        size = self.size if size is None else size
        arrays = raw.vector_from_coo(indices, values, self.dtype, size, dup_op, self._value.device)
        reading.replace_contents(self, arrays)

    def _as_matrix(self, *, name: str | None = None) -> Any:
        """Return the vector as a Matrix of one column."""
        made = OBJECTS["matrix"](self.dtype, self.size, 1, name=name)
        made[:, 0] << self
        return made

    def clear(self) -> None:
        """Remove every entry."""
        reading.refuse_recorded(self, "clear")
        reading.replace_contents(self, VectorArrays.empty(self.size, self.dtype))

    def resize(self, size: Any) -> None:
        """Change the size; entries beyond it are removed."""
        reading.refuse_recorded(self, "resize")
        size = construct.check_size(size, "size")
        arrays = reading.vector_arrays(self, "resize")
        indices, values = arrays.entry_indices(), arrays.entry_values()
        keep = indices < size
        fresh = construct.vector_from_coo(indices[keep], values[keep], self.dtype, size, None)
        reading.replace_contents(self, fresh)

    def fixed_point(
        self, other: MatrixOperand, op: SemiringLike, *, width: float | None = None
    ) -> int:
        """Become the least fixed point of ``w = w (+) w (+).(*) A``; see `fixed_point.settle`.

        Parameters
        ----------
        other : Matrix, shape (size, size)
            Or the transpose of one. Not modified.
        op : Semiring or str
            Its monoid is min or max, and its result has this vector's dtype. An operator that is
            not monotone in its first operand has no fixed point that all orders reach.
        width : float, optional
            A hint: entries farther than this from the best open one wait, which spares work. 0 has
            all of them go on at once. None: 16 times the mean of A's values for ``min_plus``,
            else 0. Devices without a kernel of their own ignore it; no result depends on it.

        Returns
        -------
        int
            Iterations, or the most rounds of a block of threads on ``cuda``.

        Raises
        ------
        DomainMismatch
            Another monoid, or a result of another dtype.
        DimensionMismatch
            The shapes do not fit.
        InvalidValue
            `width` is negative or NaN.
        IterationLimit
            Values still improved after as many iterations as there are positions. This vector is
            as it was.
        RecordError
            Inside a recorded loop body.

        Notes
        -----
        Values that are NaN improve nothing. On ``cuda`` numbers of 4 and 8 bytes take one launch
        without iterations (docs/decisions/0040), all else a loop over the entries that improved.
        There a row is one thread's: rows of thousands of entries take long.
        An operator by which values improve along a cycle and settle later than after that many
        iterations may come to its end on ``cuda``, where the loop raises IterationLimit.

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 1], [7, 2, 3], nrows=4, ncols=4)
        >>> w = Vector.from_coo([0], 0, size=4)
        >>> rounds = w.fixed_point(A, "min_plus")
        >>> w.to_dict()
        {0: 0, 1: 5, 2: 2}
        """
        from semira.frontend.fixed_point import settle

        return settle(self, other, op, width)

    def scatter(
        self, index: VectorOperand, values: VectorOperand, dup_op: Any = None, **opts: Any
    ) -> None:
        """Write ``self[index_i] = values_i`` where both have an entry.

        Parameters
        ----------
        index : Vector of integers, shape (m,)
            Target positions.
        values : Vector, shape (m,)
        dup_op : monoid or str, optional
            Folds several values for one position, and the entry already there, as
            ``np.minimum.at`` does. Without it some one of the values is written.

        Raises
        ------
        DimensionMismatch
            `index` and `values` differ in size.
        IndexOutOfBound
            A target lies outside this vector; nothing is written.

        Examples
        --------
        >>> v = Vector.from_dense([5, 5, 5])
        >>> v.scatter(Vector.from_dense([0, 0, 2]), Vector.from_dense([7, 3, 9]), "min")
        >>> v.to_dense().tolist()
        [3, 5, 5]
        """
        _check_index_vector(index)
        if getattr(values, "kind", None) != "vector" or values.shape != index.shape:
            raise DimensionMismatch(
                f"scatter: index has shape {index.shape}, values {getattr(values, 'shape', ())}"
            )
        monoid = as_monoid("any" if dup_op is None else dup_op, values.dtype)
        accum = "second" if dup_op is None else monoid.op.parent
        template = Template(
            "scatter", (values, index), "vector", monoid.type, self.shape, (),
            params=(("dup", monoid),),
        )  # fmt: skip
        Updater(self, accum=accum, opts=opts)._emit(template)


class VectorExpression(Expression[Vector], VectorOperand):
    """A vector that will be computed."""

    __slots__ = ("__weakref__", "_computed", "_target", "_template")

    def __init__(self, template: Template) -> None:
        self._template = template
        self._computed = None
        self._target: Any = None

    @property
    def S(self) -> Mask:  # noqa: N802 - GraphBLAS' name
        """The structural mask of the result."""
        return self._result().S  # type: ignore[no-any-return]

    @property
    def V(self) -> Mask:  # noqa: N802 - GraphBLAS' name
        """The value mask of the result."""
        return self._result().V  # type: ignore[no-any-return]

    @property
    def ss(self) -> Any:
        """The extensions of the result."""
        return self._result().ss


EXPRESSIONS["vector"] = VectorExpression
OBJECTS["vector"] = Vector
