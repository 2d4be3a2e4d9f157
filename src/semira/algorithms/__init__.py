"""Graph algorithms as short programs in linear algebra, on the public API only."""
