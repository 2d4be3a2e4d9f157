"""Objects from arrays in the device's memory, and back."""

from semira.backends.cuda.build.exchange import joined
from semira.backends.cuda.build.export import export
from semira.backends.cuda.build.objects import build

__all__ = ["build", "export", "joined"]
