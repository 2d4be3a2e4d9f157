"""One logger for the package; silent unless the application configures logging."""

from __future__ import annotations

import logging

logger = logging.getLogger("semira")
logger.addHandler(logging.NullHandler())
