"""The meaning of every operation: dictionaries and loops, slow on purpose."""
