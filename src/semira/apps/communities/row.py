"""The rows of the registry."""

from semira.apps.row import Application

_PACKAGE = "semira.apps.communities"
_FILES = {"initial": f"{_PACKAGE}.files:read_labels"}

ROWS = tuple(
    Application(
        name=name,
        title=f"Communities by {name.capitalize()}",
        module=_PACKAGE,
        files=_FILES,
        plot=f"{_PACKAGE}.picture:draw",
    )
    for name in ("louvain", "leiden")
)
