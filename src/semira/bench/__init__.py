"""Measurements: times that are never mixed, results that are always checked, records as JSON."""
