"""The GraphBLAS API: objects, expressions, masks, loops, and their checks."""

# The classes of objects find each other in `kinds`. They load together, so that the tables there
# are complete whichever module of this package, or of another one, a program imports first.
from semira.frontend import aggregators, display, fixed_point, objects, scalar

__all__ = ["aggregators", "display", "fixed_point", "objects", "scalar"]
