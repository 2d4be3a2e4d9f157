"""Loops over vertices and edges that hosts run in place of products."""
