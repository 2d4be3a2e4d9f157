"""The rows of the registry."""

from semira.apps.row import Application

_PACKAGE = "semira.apps.communities"
_FILES = {"initial": f"{_PACKAGE}.files:read_labels"}

ROWS = (
    Application(name="louvain", title="Communities by Louvain", module=_PACKAGE, files=_FILES),
    Application(name="leiden", title="Communities by Leiden", module=_PACKAGE, files=_FILES),
)
