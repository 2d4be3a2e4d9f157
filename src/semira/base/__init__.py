"""Errors, settings, dtypes and logging: what every other room may use."""
