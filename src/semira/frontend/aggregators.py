"""Aggregators: reductions that take more than one monoid.

Each is a composition of operations that exist already, written once for rows, columns, vectors
and whole matrices; nothing runs before the final expression does. Means and variances add up in
their result's dtype, so that narrow integers do not wrap on the way.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from semira.base.dtypes import ALL_DTYPES, BOOL, FC64, FP64, INT64, DataType, lookup_dtype, unify
from semira.base.errors import DtypeUnsupported, InvalidValue
from semira.base.locks import cached_property
from semira.base.text import did_you_mean
from semira.frontend.call import Template, expression
from semira.frontend.checks import composing
from semira.frontend.kinds import AGGREGATORS
from semira.ops.numpy_rows import NUMPY_MONOID
from semira.ops.registry import binary, monoid, semiring, unary
from semira.ops.strings import SIGNS, split_dtype
from semira.ops.typerules import as_bool, magnitude, positional, true_division

_POSITION = {"rows": "positionj", "vector": "positioni"}


#: Aggregators that move values or look at none.
_ON_RECORDS = ("any_value", "count", "exists", "first", "last", "first_index", "last_index")


@dataclass(frozen=True)
class _Reduction:
    """Reducing `x` over each row, or a vector or matrix as a whole."""

    x: Any
    over: str
    allow_empty: bool = True

    def fold(self, operand: Any, op: Any) -> Any:
        """Return the monoid over `operand`, which has the shape of ``x``."""
        if self.over == "rows":
            return operand.reduce_rowwise(op)
        method = operand.reduce if self.over == "vector" else operand.reduce_scalar
        return method(op, allow_empty=self.allow_empty)

    def total(self, dtype: DataType, operand: Any = None) -> Any:
        return self.fold(self.x if operand is None else operand, monoid["plus"][dtype])

    def count(self, dtype: DataType = INT64) -> Any:
        return self.total(dtype, self.x.apply(unary["one"][dtype]))

    def powers(self, exponent: float, dtype: DataType) -> Any:
        """Return the sum of ``x ** exponent`` in `dtype`."""
        return self.total(dtype, self.x.apply(binary["pow"][dtype], right=exponent))

    def positions(self, dtype: DataType = INT64) -> Any:
        """Return ``x`` with each entry replaced by its position."""
        return self.x.apply(unary[_POSITION[self.over]][dtype])

    def where_equal(self, operand: Any, wanted: Any) -> Any:
        """Return, as BOOL, the entries of `operand` equal to `wanted` (one per row)."""
        if self.over == "rows":
            same = _diagonal(wanted).mxm(operand, semiring["any_eq"])
        else:
            same = operand.apply(binary["eq"], right=wanted)
        return same.select("==", True)


def _diagonal(vector: Any) -> Any:
    size = vector.shape[0]
    return expression(
        Template("diag", (vector,), "matrix", vector.dtype, (size, size), (size, size))
    )


def _pair(op: str, dtype: DataType, left: Any, right: Any) -> Any:
    return left.ewise_mult(right, binary[op][dtype])


Build = Callable[[_Reduction, DataType], Any]
Rule = Callable[[DataType], DataType]


class Aggregator:
    """A reduction by name: ``agg.mean(A, rowwise=True)``, ``v.reduce(agg.mean)``.

    Parameters
    ----------
    name : str
    rule : callable
        Result dtype for an operand dtype; KeyError if there is none.
    build : callable
        Returns the expression, given what to reduce and the result dtype.
    is_monoid : bool
        Only these have a value without entries (``allow_empty=False``).
    on_matrix : bool
        Whether a matrix as a whole can be reduced.
    space : str
        Sub-namespace it lives in (``ss``).
    untyped : DataType, optional
        Result dtype where none is asked for (``agg.count``; ``agg.count["INT16"]`` asks).
    composite : sequence of Aggregator, optional
        Instead of `rule` and `build`: the aggregators whose results `finalize` combines.
    finalize : callable, optional
        Takes the results of `composite` and a dict of options; returns an expression.
    types : sequence of Aggregator, optional
        The first says which dtypes the result has; that of `composite` by default.

    Raises
    ------
    TypeError
        Neither `rule` and `build` nor `composite` and `finalize` are given.

    Examples
    --------
    >>> import semira as gb
    >>> spread = Aggregator(
    ...     "spread",
    ...     composite=[gb.agg.max, gb.agg.min],
    ...     finalize=lambda most, least, opts: gb.binary.minus(most & least),
    ... )
    >>> gb.Vector.from_coo([0, 2], [3, 8]).reduce(spread).new().value
    5
    """

    def __init__(
        self,
        name: str,
        rule: Rule | None = None,
        build: Build | None = None,
        *,
        is_monoid: bool = False,
        on_matrix: bool = True,
        space: str = "",
        untyped: DataType | None = None,
        composite: Sequence[Aggregator] | None = None,
        finalize: Callable[..., Any] | None = None,
        types: Sequence[Aggregator] | None = None,
    ) -> None:
        if composite and finalize is not None:
            rule, build = (types or composite)[0].rule, _combined(composite, finalize)
            on_matrix = all(part.on_matrix for part in composite)
        if rule is None or build is None:
            raise TypeError("an Aggregator needs `composite` and `finalize`, or `rule` and `build`")
        self.name: str = name
        self.rule: Rule = rule
        self.build: Build = build
        self.is_monoid, self.space, self.untyped = is_monoid, space, untyped
        self.on_matrix: bool = on_matrix

    def for_operand(self, dtype: DataType) -> TypedAggregator:
        """Return what reduces a `dtype` where no dtype was asked for; KeyError if nothing does."""
        if self.untyped is None:
            return self[dtype]
        self._check_records(dtype)
        self.rule(dtype)
        return TypedAggregator(self, dtype, self.untyped)

    def _check_records(self, dtype: DataType) -> None:
        if dtype.kind == "V" and self.name not in _ON_RECORDS:
            raise KeyError(dtype)

    opclass = "Aggregator"

    @cached_property
    def types(self) -> dict[DataType, DataType]:
        """Result dtype for each operand dtype."""
        return {dtype: self.rule(dtype) for dtype in ALL_DTYPES if dtype in self}

    def __contains__(self, key: Any) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __getitem__(self, key: Any) -> TypedAggregator:
        dtype = lookup_dtype(key)
        cache: dict[DataType, TypedAggregator] = self.__dict__.setdefault("_by_dtype", {})
        if dtype not in cache:
            try:
                self._check_records(dtype)
                made = TypedAggregator(self, dtype, self.rule(dtype))
            except KeyError:
                raise KeyError(f"{self.name} does not work with {dtype}") from None
            cache.setdefault(dtype, made)
        return cache[dtype]

    def __repr__(self) -> str:
        return f"agg.{self.space}{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return find_aggregator, (self.name,)

    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce a vector, a matrix, or each of its rows or columns."""
        return _call(self, x, rowwise=rowwise, columnwise=columnwise)


@dataclass(frozen=True, eq=False, repr=False)
class TypedAggregator:
    """An aggregator at one dtype: operands are cast to `type`, the result is a `return_type`."""

    parent: Aggregator
    type: DataType
    return_type: DataType

    opclass = "Aggregator"

    @property
    def name(self) -> str:
        """Name of the aggregator."""
        return self.parent.name

    def __repr__(self) -> str:
        return f"{self.parent!r}[{self.type}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, (self.parent, self.type)

    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce a vector, a matrix, or each of its rows or columns, in this dtype."""
        return _call(self, x, rowwise=rowwise, columnwise=columnwise)

    @composing
    def expression(self, x: Any, over: str, *, allow_empty: bool = True) -> Any:
        """Return the expression that reduces `x` over "rows", "vector" or "matrix".

        Raises InvalidValue if a whole matrix is to be reduced to a position in it, or
        ``allow_empty=False`` asks for the value of no entries where there is none.
        """
        if not allow_empty and not self.parent.is_monoid:
            raise InvalidValue(
                f"allow_empty=False not allowed when using Aggregators: {self!r} of no entries "
                "has no value"
            )
        if over == "matrix" and not self.parent.on_matrix:
            raise InvalidValue(
                f"Aggregator {self.name} may not be used with Matrix.reduce_scalar: a position "
                "is a row and a column; reduce the rows or the columns"
            )
        if x.dtype is not self.type:
            x = x.apply(unary["identity"][self.type])
        return self.parent.build(_Reduction(x, over, allow_empty), self.return_type)


def _combined(parts: Sequence[Aggregator], finalize: Callable[..., Any]) -> Build:
    def build(given: _Reduction, _dtype: DataType) -> Any:
        typed = [part.for_operand(given.x.dtype) for part in parts]
        return finalize(*(one.parent.build(given, one.return_type) for one in typed), {})

    return build


def _call(op: Any, x: Any, *, rowwise: bool, columnwise: bool) -> Any:
    kind = getattr(x, "kind", None)
    if kind not in ("vector", "matrix"):
        raise TypeError(
            f"Bad type when calling {op!r}: expected a Vector or a Matrix, got {type(x).__name__}; "
            f"`{op!r}(A)` is `A.reduce_scalar({op!r})`"
        )
    if kind == "vector":
        if rowwise or columnwise:
            raise ValueError("rowwise and columnwise arguments should not be used with a Vector")
        return x.reduce(op)
    if rowwise and columnwise:
        raise ValueError("rowwise and columnwise arguments cannot both be True")
    if rowwise:
        return x.reduce_rowwise(op)
    return x.reduce_columnwise(op) if columnwise else x.reduce_scalar(op)


# --- result dtypes ----------------------------------------------------------------------------


def _numbers(kinds: str) -> Rule:
    def rule(dtype: DataType) -> DataType:
        if dtype.kind not in kinds:
            raise KeyError(dtype)
        return dtype

    return rule


def _result_of(rule: Callable[[DataType], tuple[DataType, DataType]]) -> Rule:
    return lambda dtype: rule(dtype)[1]


_quotient, _size, _place = map(_result_of, (true_division, magnitude, positional))


def _double(dtype: DataType) -> DataType:
    if dtype is BOOL:
        raise KeyError(dtype)
    return unify(dtype, FC64) if dtype.is_complex else FP64


def _squares(dtype: DataType) -> DataType:
    if dtype is BOOL:
        raise KeyError(dtype)
    return unify(dtype, INT64)


# --- what each one computes -------------------------------------------------------------------


def _monoid(name: str, kinds: str | None = None) -> tuple[Rule, Build]:
    rule = _result_of(as_bool) if kinds is None else _numbers(kinds)
    return rule, lambda given, dtype: given.fold(given.x, monoid[name])


def _compared(op: str) -> Build:
    def build(given: _Reduction, dtype: DataType) -> Any:
        return given.total(dtype, given.x.apply(binary[op][given.x.dtype], right=0))

    return build


def _exponentials(base: float, monoid_name: str, logarithm: str) -> Build:
    def build(given: _Reduction, dtype: DataType) -> Any:
        if dtype.is_float:
            # Sums of logarithms, none of which overflows.
            return given.fold(given.x, NUMPY_MONOID[monoid_name][dtype])
        powers = given.x.apply(binary["pow"][dtype], left=base)
        return given.total(dtype, powers).apply(unary[logarithm][dtype])

    return build


def _norm(given: _Reduction, dtype: DataType) -> Any:
    """Return the root of the sum of squares; where these could overflow, without them."""
    if given.x.dtype is FP64:
        return given.fold(given.x.apply(unary["abs"]), NUMPY_MONOID["hypot"][FP64])
    wide = FP64 if dtype.is_float else dtype
    return given.powers(2, wide).apply(unary["sqrt"][wide])


def _mean(given: _Reduction, dtype: DataType) -> Any:
    return _pair("truediv", dtype, given.total(dtype), given.count())


def _peak_to_peak(given: _Reduction, dtype: DataType) -> Any:
    largest, least = given.fold(given.x, monoid["max"]), given.fold(given.x, monoid["min"])
    return _pair("minus", dtype, largest, least)


def _squared_deviations(given: _Reduction, dtype: DataType) -> Any:
    """Return the sum of ``(x - <x>)^2``, in which no digits cancel as they do in <x^2> - <x>^2."""
    is_by_row = given.over == "rows"
    # Without entries the mean is 0 / 0: a value that meets none.
    mean = _mean(_Reduction(given.x, given.over, allow_empty=is_by_row), dtype)
    if is_by_row:
        deviations = _diagonal(mean).mxm(given.x, semiring["any_minus"][dtype])
    else:
        deviations = given.x.apply(binary["minus"][dtype], right=mean)
    return given.total(dtype, deviations.apply(binary["pow"][dtype], right=2))


def _population_variance(given: _Reduction, dtype: DataType) -> Any:
    return _pair("truediv", dtype, _squared_deviations(given, dtype), given.count())


def _sample_variance(given: _Reduction, dtype: DataType) -> Any:
    fewer = given.count().apply(binary["minus"], right=1)
    return _pair("truediv", dtype, _squared_deviations(given, dtype), fewer)


def _root(inner: Build) -> Build:
    return lambda given, dtype: inner(given, dtype).apply(unary["sqrt"][dtype])


def _root_mean_square(given: _Reduction, dtype: DataType) -> Any:
    root = given.count().apply(unary["sqrt"][FP64])
    return _pair("truediv", dtype, _norm(given, dtype), root)


def _geometric_mean(given: _Reduction, dtype: DataType) -> Any:
    share = given.count().apply(unary["minv"][FP64])
    return _pair("pow", dtype, given.fold(given.x, monoid["times"][dtype]), share)


def _harmonic_mean(given: _Reduction, dtype: DataType) -> Any:
    return _pair("truediv", dtype, given.count(), given.powers(-1, dtype))


def _index_of(extreme: str) -> Build:
    def build(given: _Reduction, dtype: DataType) -> Any:
        whole = _Reduction(given.x, given.over, allow_empty=given.over == "rows")
        best = whole.fold(given.x, monoid[extreme])
        at = _Reduction(given.where_equal(given.x, best), given.over)
        return given.fold(at.positions(dtype), monoid["min"])

    return build


def _index_at(end: str) -> Build:
    return lambda given, dtype: given.fold(given.positions(dtype), monoid[end])


def _value_at(end: str) -> Build:
    def build(given: _Reduction, dtype: DataType) -> Any:
        if given.over == "matrix":
            ends = build(_Reduction(given.x, "rows"), dtype)
            return build(_Reduction(ends, "vector"), dtype)
        positions = given.positions()
        whole = _Reduction(given.x, given.over, allow_empty=given.over == "rows")
        there = given.where_equal(positions, whole.fold(positions, monoid[end]))
        return given.fold(_pair("first", dtype, given.x, there), monoid["any"])

    return build


def _rows() -> list[Aggregator]:
    def of_monoid(name: str, op: str, kinds: str | None = None) -> Aggregator:
        return Aggregator(name, *_monoid(op, kinds), is_monoid=True)

    def everything(dtype: DataType) -> DataType:
        return dtype

    def counted(_dtype: DataType) -> DataType:
        return INT64

    def absolute(op: str) -> Build:
        return lambda given, dtype: given.fold(given.x.apply(unary["abs"]), monoid[op])

    number = _numbers("IUF")
    return [
        of_monoid("sum", "plus", "IUFC"),
        of_monoid("prod", "times", "BIUFC"),
        of_monoid("all", "land"),
        of_monoid("any", "lor"),
        of_monoid("min", "min", "BIUF"),
        of_monoid("max", "max", "BIUF"),
        of_monoid("any_value", "any", "BIUFCV"),
        of_monoid("bitwise_all", "band", "U"),
        of_monoid("bitwise_any", "bor", "U"),
        Aggregator("count", everything, lambda given, dtype: given.count(dtype), untyped=INT64),
        Aggregator("count_nonzero", number, _compared("isne")),
        Aggregator("count_zero", number, _compared("iseq")),
        Aggregator(
            "exists",
            everything,
            lambda given, dtype: given.fold(given.x.apply(unary["one"][dtype]), monoid["any"]),
            untyped=INT64,
        ),
        Aggregator("sum_of_squares", _squares, lambda given, dtype: given.powers(2, dtype)),
        Aggregator("sum_of_inverses", _double, lambda given, dtype: given.powers(-1, dtype)),
        Aggregator("hypot", _double, _norm),
        Aggregator("logaddexp", _double, _exponentials(math.e, "logaddexp", "log")),
        Aggregator("logaddexp2", _double, _exponentials(2, "logaddexp2", "log2")),
        Aggregator("L1norm", lambda dtype: _size(_numbers("IUFC")(dtype)), absolute("plus")),
        Aggregator("Linfnorm", _size, absolute("max")),
        Aggregator("mean", _quotient, _mean),
        Aggregator("peak_to_peak", _numbers("BIUF"), _peak_to_peak),
        Aggregator("varp", _quotient, _population_variance),
        Aggregator("vars", _quotient, _sample_variance),
        Aggregator("stdp", _quotient, _root(_population_variance)),
        Aggregator("stds", _quotient, _root(_sample_variance)),
        Aggregator("geometric_mean", _quotient, _geometric_mean),
        Aggregator("harmonic_mean", _double, _harmonic_mean),
        Aggregator("root_mean_square", _quotient, _root_mean_square),
        Aggregator("argmin", _place, _index_of("min"), on_matrix=False, space="ss."),
        Aggregator("argmax", _place, _index_of("max"), on_matrix=False, space="ss."),
        Aggregator("first", everything, _value_at("min"), space="ss."),
        Aggregator("last", everything, _value_at("max"), space="ss."),
        Aggregator("first_index", counted, _index_at("min"), on_matrix=False, space="ss."),
        Aggregator("last_index", counted, _index_at("max"), on_matrix=False, space="ss."),
    ]


AGGREGATORS |= {row.name: row for row in _rows()}
AGGREGATORS |= {"L0norm": AGGREGATORS["count_nonzero"], "L2norm": AGGREGATORS["hypot"]}


def find_aggregator(text: str) -> Any:
    """Return the aggregator a string names, such as ``"mean"`` or ``"mean[fp32]"``.

    Raises InvalidValue if there is none, or the brackets are not one pair at the end.
    """
    name, dtype = split_dtype(text)
    found = AGGREGATORS.get(SIGNS["Aggregator"].get(name, name).removeprefix("ss."))
    if found is None:
        hint = did_you_mean(name, AGGREGATORS) or f"; there are {', '.join(sorted(AGGREGATORS))}"
        raise InvalidValue(f"Unknown agg string: {text!r}{hint}")
    return found if dtype is None else found[dtype]


def aggregate(op: Any, x: Any, over: str, *, allow_empty: bool = True) -> Any:
    """Return the expression of an aggregator, or None if `op` is (the name of) something else.

    Raises DomainMismatch if the aggregator does not work with the dtype of `x`.
    """
    if isinstance(op, str):
        name = op.partition("[")[0].strip()
        if name in monoid or name not in AGGREGATORS:
            return None
        op = find_aggregator(op)
    if isinstance(op, Aggregator):
        try:
            op = op.for_operand(x.dtype)
        except KeyError:
            names = ", ".join(dtype.name for dtype in op.types)
            raise DtypeUnsupported(
                f"aggregator {op.name} does not work with {x.dtype}; it works with {names}"
            ) from None
    if not isinstance(op, TypedAggregator):
        return None
    return op.expression(x, over, allow_empty=allow_empty)
