"""The GraphBLAS API: objects, expressions, masks, loops, and their checks."""
