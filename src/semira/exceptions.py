"""The namespace ``semira.exceptions``."""

from __future__ import annotations

from semira.base.errors import *  # noqa: F403 - every name there is an exception
