"""The formats of ``import_*`` and ``pack_*``: one row each, from which the methods are made.

A row names the arrays of a format and the function that makes an object of them; signatures
follow from it, with python-graphblas' names and defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from semira.base.dtypes import lookup_dtype
from semira.base.errors import DomainMismatch, InvalidValue
from semira.formats import RawArrays
from semira.formats.raw import on_gpu, shape_of
from semira.frontend import construct, raw, reading
from semira.frontend.hints import parse_hints
from semira.frontend.kinds import OBJECTS
from semira.frontend.ss import importing
from semira.frontend.ss.importing import Terms


@dataclass(frozen=True, slots=True)
class Form:
    """One format."""

    #: ``csr``, ``bitmap``, ..., or ``any``.
    name: str
    #: "matrix" or "vector".
    kind: str
    #: Makes arrays of shape, arguments and terms.
    build: Callable[[Any, dict[str, Any], Terms], Any]
    #: Arguments without default, keyword-only unless `positional`.
    required: tuple[str, ...]
    #: Further arguments and their defaults.
    optional: Mapping[str, Any] = field(default_factory=dict)
    #: Whether the required arguments may be given by position.
    positional: bool = False
    #: Whether an import must give the shape.
    sized: bool = False

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return ("nrows", "ncols") if self.kind == "matrix" else ("size",)


_COMMON = {
    "is_iso": False, "take_ownership": False, "secure_import": False, "dtype": None,
    "format": None, "name": None,
}  # fmt: skip


def _signature(form: Form, first: str, *, importing_sizes: bool) -> Signature:
    """Return the signature of the importer (sizes may be required) or the packer."""
    kind = Parameter.POSITIONAL_OR_KEYWORD if form.positional else Parameter.KEYWORD_ONLY
    required = [Parameter(name, kind) for name in form.required]
    sizes = [
        Parameter(name, Parameter.KEYWORD_ONLY)
        if form.sized and importing_sizes
        else Parameter(name, Parameter.KEYWORD_ONLY, default=None)
        for name in form.sizes
    ]
    rest = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in {**form.optional, **_COMMON}.items()
    ]
    options = Parameter("opts", Parameter.VAR_KEYWORD)
    own = Parameter(first, Parameter.POSITIONAL_ONLY)
    return Signature([own, *required, *sizes, *rest, options])


def _seal(arguments: dict[str, Any], arrays: Any) -> None:
    """Make the caller's arrays that an object now uses read-only."""
    used = importing.parts_of(arrays).values()
    for given in arguments.values():
        if isinstance(given, np.ndarray) and any(np.may_share_memory(given, part) for part in used):
            given.flags.writeable = False


def _check_format_name(form: Form, given: Any) -> None:
    known = FORMS[form.kind] if form.name == "any" else {form.name}
    if given is not None and given not in known:
        raise InvalidValue(
            f"Invalid format: {given!r}; it must be None or one of {', '.join(sorted(known))}"
        )


def _made(form: Form, given: dict[str, Any], shape: Any, dtype: Any) -> Any:
    parse_hints(given.pop("opts"))
    _check_format_name(form, given["format"])
    take = bool(given["take_ownership"])
    terms = Terms(bool(given["is_iso"]), take, None if dtype is None else lookup_dtype(dtype))
    arrays = form.build(shape, given, terms)
    if take:
        _seal(given, arrays)
    return arrays


def importer(form: Form) -> Any:
    """Return the class method ``import_<format>``."""
    signature = _signature(form, "cls", importing_sizes=True)

    def method(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["cls"]
        shape = tuple(given[name] for name in form.sizes)
        arrays = _made(form, given, shape, given["dtype"])
        return OBJECTS[form.kind]._of(arrays, given["name"])

    _describe(method, form, "import", signature)
    return classmethod(method)


def packer(form: Form) -> Any:
    """Return the method ``pack_<format>``."""
    signature = _signature(form, "self", importing_sizes=False)

    def method(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        parent = given.pop("self")._parent
        arrays = _made(form, given, parent.shape, parent.dtype)
        reading.replace_contents(parent, arrays)

    _describe(method, form, "pack", signature)
    return method


_TEXT = {
    "import": """Return a new {kind} made of {form} arrays.

{arguments}

Notes
-----
With ``take_ownership`` the arrays of compressed and sparse formats, and of dense vectors, are not
copied if their dtypes are the ones we store (`formats.index_dtype`); they become read-only.
Arrays in the memory of a GPU are taken by csr and csc, and make an object there.
Everything is checked, with ``secure_import`` and without: O(nvals).
""",
    "pack": """Replace the contents by {form} arrays; shape and dtype stay as they are.

{arguments}

Notes
-----
As the import of the same name; the shape, ``dtype`` and ``name`` are accepted and ignored, so
that what `unpack` returned can be passed on as it is.
""",
}


def _describe(method: Any, form: Form, verb: str, signature: Signature) -> None:
    method.__name__ = f"{verb}_{form.name}"
    method.__qualname__ = f"{form.kind.capitalize()}Extensions.{method.__name__}"
    method.__signature__ = signature
    listed = ", ".join(f"``{name}``" for name in (*form.required, *form.optional))
    what = "whatever" if form.name == "any" else form.name
    method.__doc__ = _TEXT[verb].format(
        kind=form.kind.capitalize(), form=what, arguments=f"Arguments of the format: {listed}."
    )


def _compressed(orientation: str, *, hyper: bool) -> Callable[..., Any]:
    by_rows = orientation == "csr"
    minor = "col_indices" if by_rows else "row_indices"
    flag, major = ("sorted_cols", "rows") if by_rows else ("sorted_rows", "cols")

    def build(shape: Any, given: dict[str, Any], terms: Terms) -> Any:
        parts = {
            "indptr": given["indptr"], "indices": given[minor], "values": given["values"],
            "is_sorted": given[flag],
        }  # fmt: skip
        if hyper:
            parts.update(majors=given[major], nvec=given["nvec"])
        elif any(map(on_gpu, (parts["indptr"], parts["indices"], parts["values"]))):
            return _compressed_on_gpu(orientation, shape, parts, terms)
        return importing.compressed(orientation, importing.matrix_shape(*shape), parts, terms)

    return build


def _compressed_on_gpu(
    orientation: str, shape: Any, parts: dict[str, Any], terms: Terms
) -> RawArrays:
    if terms.is_iso and on_gpu(parts["values"]) and shape_of(parts["values"]):
        raise InvalidValue("is_iso: give the one value as a number or an array of no dimensions")
    made = raw.matrix_from_compressed(
        orientation, parts["indptr"], parts["indices"], parts["values"], terms.dtype,
        *(shape if orientation == "csr" else shape[::-1]), owned=terms.take,
    )  # fmt: skip
    assert isinstance(made, RawArrays)
    return made


def _coordinates(orientation: str, flag: str | None) -> Callable[..., Any]:
    def build(shape: Any, given: dict[str, Any], terms: Terms) -> Any:
        if flag is not None and not given[flag]:
            raise InvalidValue(f"{flag} must be True for this format; use import_coo otherwise")
        return importing.coordinates(orientation, importing.matrix_shape(*shape), given, terms)

    return build


def _dense(orientation: str) -> Callable[..., Any]:
    def build(shape: Any, given: dict[str, Any], terms: Terms) -> Any:
        sizes = importing.matrix_shape(*shape, given.get("bitmap"), given["values"])
        return importing.dense_matrix(orientation, sizes, given, terms)

    return build


def _sparse_vector(shape: Any, given: dict[str, Any], terms: Terms) -> Any:
    parts = {**given, "is_sorted": given["sorted_index"]}
    return importing.sparse_vector(construct.check_size(shape[0], "size"), parts, terms)


def _dense_vector(shape: Any, given: dict[str, Any], terms: Terms) -> Any:
    size = shape[0]
    if size is None:
        shared = terms.is_iso or not np.ndim(given["values"])
        sized = given.get("bitmap") if shared else given["values"]
        if sized is None:
            raise InvalidValue("size must be given: one shared value does not tell it")
        size = len(sized)
    return importing.dense_vector(construct.check_size(size, "size"), given, terms)


def _only(given: dict[str, Any], first: str, excluded: tuple[str, ...]) -> None:
    for other in excluded:
        if given.get(other) is not None:
            raise DomainMismatch(f"Cannot provide both `{first}` and `{other}`")


def _fortran(array: Any) -> bool:
    flags = getattr(array, "flags", None)
    return flags is not None and bool(flags.f_contiguous and not flags.c_contiguous)


def _compressed_format(given: dict[str, Any]) -> str:
    by_rows, by_cols = given["col_indices"] is not None, given["row_indices"] is not None
    if by_rows == by_cols:
        both = "not both" if by_rows else "one of them"
        raise DomainMismatch(f"Must provide either `row_indices` or `col_indices`, {both}")
    if by_rows:
        _only(given, "col_indices", ("cols",))
        return "csr" if given["rows"] is None else "hypercsr"
    _only(given, "row_indices", ("rows",))
    return "csc" if given["cols"] is None else "hypercsc"


def _matrix_format(given: dict[str, Any]) -> str:
    """Return the format that the arrays given to ``import_any`` make."""
    if given["indptr"] is not None:
        _only(given, "indptr", ("bitmap",))
        return _compressed_format(given)
    if given["bitmap"] is not None:
        _only(given, "bitmap", ("col_indices", "row_indices", "cols", "rows"))
        return "bitmapc" if _fortran(given["bitmap"]) else "bitmapr"
    if given["rows"] is not None or given["cols"] is not None:
        if given["rows"] is None or given["cols"] is None:
            raise InvalidValue("coo requires both `rows` and `cols`")
        return "coo"
    return "fullc" if _fortran(given["values"]) else "fullr"


def _vector_format(given: dict[str, Any]) -> str:
    if given["indices"] is not None:
        _only(given, "indices", ("bitmap",))
        return "sparse"
    return "full" if given["bitmap"] is None else "bitmap"


_ARRAYS = (
    "values", "indptr", "row_indices", "col_indices", "rows", "cols", "bitmap", "indices",
)  # fmt: skip


def _any(kind: str, infer: Callable[[dict[str, Any]], str]) -> Callable[..., Any]:
    def build(shape: Any, given: dict[str, Any], terms: Terms) -> Any:
        form = FORMS[kind][given["format"] or infer(given)]
        missing = [name for name in form.required if given[name] is None]
        if missing:
            raise DomainMismatch(f"format {form.name!r} needs `{'`, `'.join(missing)}`")
        used = {*form.required, *form.optional}
        surplus = [n for n in _ARRAYS if given.get(n) is not None and n not in used]
        if surplus:
            raise DomainMismatch(f"format {form.name!r} has no `{'`, `'.join(surplus)}`")
        if form.sized and None in shape:
            raise InvalidValue(f"format {form.name!r} needs {' and '.join(form.sizes)}")
        return form.build(shape, given, terms)

    return build


def _matrix_forms() -> list[Form]:
    forms = []
    for name, major, minor, flag in (
        ("csr", "rows", "col_indices", "sorted_cols"),
        ("csc", "cols", "row_indices", "sorted_rows"),
    ):
        arrays = ("indptr", "values", minor)
        plain, hyper = (_compressed(name, hyper=is_hyper) for is_hyper in (False, True))
        forms.append(Form(name, "matrix", plain, arrays, {flag: False}, sized=True))
        options = {"nvec": None, flag: False}
        forms.append(Form(f"hyper{name}", "matrix", hyper, (major, *arrays), options, sized=True))
        letter, dense = name[2], _dense(name)
        forms.append(
            Form(f"bitmap{letter}", "matrix", dense, ("bitmap", "values"), {"nvals": None})
        )
        forms.append(Form(f"full{letter}", "matrix", dense, ("values",), positional=True))
    for name, orientation, needed in (
        ("coo", "csr", None), ("coor", "csr", "sorted_rows"), ("cooc", "csc", "sorted_cols"),
    ):  # fmt: skip
        flags = {flag: flag == needed for flag in ("sorted_rows", "sorted_cols")}
        build = _coordinates(orientation, needed)
        arrays = ("rows", "cols", "values")
        forms.append(Form(name, "matrix", build, arrays, flags, positional=True, sized=True))
    return forms


def _vector_forms() -> list[Form]:
    sparse = {"nvals": None, "sorted_index": False}
    return [
        Form("sparse", "vector", _sparse_vector, ("indices", "values"), sparse, sized=True),
        Form("bitmap", "vector", _dense_vector, ("bitmap", "values"), {"nvals": None}),
        Form("full", "vector", _dense_vector, ("values",), positional=True),
    ]


#: kind -> format -> its row
FORMS: dict[str, dict[str, Form]] = {
    "matrix": {form.name: form for form in _matrix_forms()},
    "vector": {form.name: form for form in _vector_forms()},
}

_ANY = {
    "matrix": Form(
        "any", "matrix", _any("matrix", _matrix_format), ("values",),
        {
            "indptr": None, "col_indices": None, "sorted_cols": False, "rows": None,
            "row_indices": None, "sorted_rows": False, "cols": None, "nvec": None,
            "bitmap": None, "nvals": None,
        },
    ),
    "vector": Form(
        "any", "vector", _any("vector", _vector_format), ("values",),
        {"indices": None, "sorted_index": False, "bitmap": None, "nvals": None},
    ),
}  # fmt: skip


def with_transfers(kind: str) -> Callable[[type], type]:
    """Return the class decorator that adds every ``import_*`` and ``pack_*`` of `kind`."""

    def decorate(owner: type) -> type:
        for form in (*FORMS[kind].values(), _ANY[kind]):
            setattr(owner, f"import_{form.name}", importer(form))
            setattr(owner, f"pack_{form.name}", packer(form))
        return owner

    return decorate
