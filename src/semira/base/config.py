"""The options of the API that a program changes while it runs: ``semira.config``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from semira.base.errors import InvalidValue


class _Change:
    """What `Config.set` returns: as a context manager it takes the change back."""

    __slots__ = ("_before", "_config")

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self._before = before

    def __enter__(self) -> Config:
        return self._config

    def __exit__(self, *exception: object) -> None:
        self._config.update(self._before)


class Config:
    """Named options with defaults.

    ========== ======= =============================================================
    key        default meaning
    ========== ======= =============================================================
    autocompute True   an expression used as an object is computed; otherwise that is
                       an error
    mapnumpy   True    operators of the ``numpy`` namespaces are the built-in ones
                       where both mean the same
    ========== ======= =============================================================

    Examples
    --------
    >>> options = Config(autocompute=True)
    >>> with options.set(autocompute=False):
    ...     options["autocompute"]
    False
    >>> options.get("autocompute")
    True
    """

    __slots__ = ("_values",)

    def __init__(self, **defaults: Any) -> None:
        self._values = defaults

    def get(self, key: str, default: Any = None) -> Any:
        """Return an option, or `default` if there is none of that name."""
        return self._values.get(key, default)

    def set(self, changes: Mapping[str, Any] | None = None, **options: Any) -> _Change:
        """Change options; in a ``with`` statement only until its end.

        Raises
        ------
        InvalidValue
            There is no option of that name.
        """
        wanted = {**(changes or {}), **options}
        before = {key: self._values[key] for key in wanted if key in self._values}
        self.update(wanted)
        return _Change(self, before)

    def update(self, changes: Mapping[str, Any]) -> None:
        """Change options for good.

        Raises
        ------
        InvalidValue
            There is no option of that name.
        """
        unknown = sorted(set(changes) - set(self._values))
        if unknown:
            raise InvalidValue(f"no option {unknown[0]!r}; options are {', '.join(self._values)}")
        self._values |= changes

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of all options."""
        return dict(self._values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Config({self._values})"


#: The options in force in this process.
config = Config(autocompute=True, mapnumpy=True)
