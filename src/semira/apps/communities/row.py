"""The rows of the registry."""

from semira.apps.row import Application

ROWS = (
    Application(name="louvain", title="Communities by Louvain", module="semira.apps.communities"),
    Application(name="leiden", title="Communities by Leiden", module="semira.apps.communities"),
)
