"""Scans, choices and orders along rows and columns; other shapes. See `contract.rearrange`."""
