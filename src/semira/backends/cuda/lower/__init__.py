"""Lowering: a Program becomes the text of one kernel. Pure: no driver, no compiler."""

from semira.backends.cuda.lower.program import LaunchShape, Lowered, lower_program

__all__ = ["LaunchShape", "Lowered", "lower_program"]
