"""The options of the API that a program changes while it runs: ``semira.config``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from semira.base.errors import InvalidValue
from semira.base.options import Option, collect
from semira.base.settings import CONFIG_OPTIONS, OPTION_NAMES


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
    """Named options, read from the environment and the user's file on first use.

    ============= ======= ==========================================================
    key           default meaning
    ============= ======= ==========================================================
    autocompute   True    an expression used as an object is computed; otherwise that
                          is an error
    mapnumpy      True    operators of the ``numpy`` namespaces are the built-in ones
                          where both mean the same
    max_rows      60      rows up to which a printed matrix is shown whole
    min_rows      10      rows shown of one that has more
    max_columns   0       columns shown of a printed matrix, positions of a vector; 0:
                          as many as fit
    max_width     80      characters in a line of a printed object
    memory        fast    ``lean``: new matrices keep one orientation
    deterministic False   floating-point sums come out the same from run to run, to
                          the last bit
    hot_columns   auto    values at frequent columns in shared memory of the GPU:
                          where it should pay; ``off``: never; ``on``: always
    diagonals     auto    on the GPU, short rows of large matrices as bits where their
                          entries lie on few diagonals: ``off``: never; ``on``: from
                          the first product on
    progress      True    bars and status lines on a terminal or in a notebook
    ============= ======= ==========================================================

    Parameters
    ----------
    options : mapping of str to Option
        The options there are.

    Examples
    --------
    >>> options = Config()
    >>> with options.set(autocompute=False):
    ...     options["autocompute"]
    False
    >>> options.get("autocompute")
    True
    """

    __slots__ = ("_options", "_values")

    def __init__(self, options: Mapping[str, Option] = CONFIG_OPTIONS) -> None:
        self._options = options
        # Empty until something is read: a mistake in a file must not break an import.
        self._values: dict[str, Any] = {}

    def _loaded(self) -> dict[str, Any]:
        if not self._values:
            self.refresh()
        return self._values

    def refresh(self) -> None:
        """Read the environment and the user's file again; changes made by `set` are dropped.

        Raises
        ------
        InvalidValue
            A value is not what its option accepts.
        """
        self._values = collect(self._options, OPTION_NAMES)

    def get(self, key: str, default: Any = None) -> Any:
        """Return an option, or `default` if there is none of that name."""
        return self._loaded().get(key, default)

    def set(self, changes: Mapping[str, Any] | None = None, **options: Any) -> _Change:
        """Change options; in a ``with`` statement only until its end.

        Raises
        ------
        InvalidValue
            There is no option of that name, or it does not accept the value; nothing changes.
        """
        wanted = {**(changes or {}), **options}
        values = self._loaded()
        before = {key: values[key] for key in wanted if key in values}
        self.update(wanted)
        return _Change(self, before)

    def update(self, changes: Mapping[str, Any]) -> None:
        """Change options for good.

        Raises
        ------
        InvalidValue
            There is no option of that name, or it does not accept the value; nothing changes.
        """
        for key in changes:
            if key not in self._options:
                known = ", ".join(self._options)
                raise InvalidValue(f"no option {key!r}; options are {known}")
        parsed = {key: self._options[key].parse(value, key) for key, value in changes.items()}
        self._loaded().update(parsed)

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of all options."""
        return dict(self._loaded())

    def __getitem__(self, key: str) -> Any:
        # One look-up once the options are read: every expression asks.
        try:
            return self._values[key]
        except KeyError:
            return self._loaded()[key]

    def read(self, getter: Callable[[Mapping[str, Any]], Any]) -> Any:
        """Return several options at once, by an `operator.itemgetter`."""
        return getter(self._values or self._loaded())

    def __contains__(self, key: object) -> bool:
        return key in self._options

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __repr__(self) -> str:
        return f"Config({self._loaded()})"


#: The options in force in this process.
config = Config()
