"""Fixed points of products by min or max, in one launch without barriers (decision 40)."""

from semira.backends.cuda.fixed_point.fixed_points import fixed_point

__all__ = ["fixed_point"]
