"""What python-graphblas' programs may call before anything else."""

from __future__ import annotations

from semira.base.errors import InvalidValue

#: Name of the implementation behind the API, as programs see it in ``semira.backend``.
backend = "semira"

#: Names that `init` accepts: ours, and those a program written for upstream passes.
_KNOWN = (backend, "suitesparse", "suitesparse-vanilla")


def init(backend: str = backend, blocking: bool | None = False) -> None:
    """Do nothing: Semira starts on first use.

    Parameters
    ----------
    backend : str
        Kept for python-graphblas' signature; the implementation is always Semira.
    blocking : bool or None
        Kept likewise. Calls on ``reference`` and ``cpu`` return when they are done; on
        ``cuda`` wait with ``x.wait()``.

    Raises
    ------
    InvalidValue
        `backend` is a name no program written for this API passes.
    """
    del blocking
    if backend not in _KNOWN:
        raise InvalidValue(f"Bad backend name {backend!r}; choose one of {', '.join(_KNOWN)}")
