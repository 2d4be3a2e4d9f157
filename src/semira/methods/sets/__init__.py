"""Dot products whose lists meet in a set: the columns of a row in a hash table, or as bits."""
