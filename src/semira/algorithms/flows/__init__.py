"""Flows in networks: what `maximum_flow` and applications on top of it share."""
