"""Constructors of vectors, and changes of the whole vector."""

from __future__ import annotations

from itertools import count
from typing import Any, Self

import numpy as np

from semira.base.dtypes import FP64, lookup_dtype
from semira.base.errors import DimensionMismatch, InvalidIndex, InvalidValue, OutputNotEmpty
from semira.engine.values import Value
from semira.frontend import construct, raw, reading
from semira.frontend.call import Template
from semira.frontend.collection import Collection
from semira.frontend.exports import ReadableMatrix, ReadableVector
from semira.frontend.infix import Made_co
from semira.frontend.kinds import OBJECTS, PROVIDED
from semira.frontend.operators import SemiringLike, as_monoid
from semira.frontend.updater import Updater


def check_index_vector(index: Any) -> None:
    """Check that an index is a Vector of integers; raises InvalidIndex if it is not."""
    if getattr(index, "kind", None) != "vector" or not index.dtype.is_integer:
        raise InvalidIndex("gather and scatter need a Vector of integers as index")


class StoredVector(ReadableVector[Made_co], Collection[Made_co]):
    """Base of `Vector`: constructors, and changes of the whole vector."""

    __slots__ = ()

    _letter, _name_counter = "v", count()

    def __init__(self, dtype: Any = FP64, size: Any = 0, *, name: str | None = None) -> None:
        wanted = lookup_dtype(dtype)
        self._value = Value("vector", wanted, (construct.check_size(size, "size"),))
        self.name = name or self._new_name()

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
    ) -> Self:
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
    ) -> Self:
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
    ) -> Self:
        """Return the vector of ``{index: value}``."""
        size = 0 if size is None and not d else size
        return cls.from_pairs(d.items(), dtype, size=size, name=name)

    @classmethod
    def from_scalar(
        cls, value: Any, size: Any, dtype: Any = None, *, name: str | None = None, **opts: Any
    ) -> Self:
        """Return the full vector with `value` everywhere; a single value is stored."""
        del opts
        given = construct.as_value(value, "Vector.from_scalar", dtype)
        return cls._of(construct.vector_from_scalar(given, size, dtype), name)

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
        made = OBJECTS["matrix"](self.dtype, self.size, 1, name=name)
        made[:, 0] << self
        return made

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
        self, other: ReadableMatrix[Any], op: SemiringLike, *, width: float | None = None
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
        >>> w = gb.Vector.from_coo([0], 0, size=4)
        >>> rounds = w.fixed_point(A, "min_plus")
        >>> w.to_dict()
        {0: 0, 1: 5, 2: 2}
        """
        rounds: int = PROVIDED["settle"](self, other, op, width)
        return rounds

    def scatter(
        self,
        index: ReadableVector[Any],
        values: ReadableVector[Any],
        dup_op: Any = None,
        **opts: Any,
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
        >>> import semira as gb
        >>> v = gb.Vector.from_dense([5, 5, 5])
        >>> v.scatter(gb.Vector.from_dense([0, 0, 2]), gb.Vector.from_dense([7, 3, 9]), "min")
        >>> v.to_dense().tolist()
        [3, 5, 5]
        """
        check_index_vector(index)
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
