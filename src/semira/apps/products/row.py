"""Products are for programs: they have no command."""

from __future__ import annotations

from semira.apps.row import Application

ROWS: tuple[Application, ...] = ()
