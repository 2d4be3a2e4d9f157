"""Seeded generators of graphs; each returns an `EdgeList` that its seed determines alone."""

from semira.generators.erdos_renyi import generate_erdos_renyi
from semira.generators.geometric import generate_geometric, geometric_points
from semira.generators.kronecker import generate_kronecker
from semira.generators.registry import (
    GENERATORS,
    generate,
    is_generator_spec,
    nearest_generator,
    parse_spec,
)
from semira.generators.road import generate_road

__all__ = [
    "GENERATORS",
    "generate",
    "generate_erdos_renyi",
    "generate_geometric",
    "generate_kronecker",
    "generate_road",
    "geometric_points",
    "is_generator_spec",
    "nearest_generator",
    "parse_spec",
]
