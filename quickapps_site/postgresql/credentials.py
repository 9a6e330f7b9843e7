"""Reads the current database credentials from the file that contains `DATABASE_URL`, because they
may be rotated while the process runs.
"""

from __future__ import annotations

import logging
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from apps.environment_variables import latest
from quickapps_site.service_urls import without_pooling

logger = logging.getLogger(__name__)


def with_current_credentials(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the connection parameters. If `DATABASE_URL` is in a file, they contain the current
    credentials from this file.
    """
    address = latest("DATABASE_URL", "")
    if not address:
        return parameters
    try:
        found = conninfo_to_dict(without_pooling(address))
    except psycopg.Error:
        logger.warning(
            "Failed to read DATABASE_URL_FILE. Still using the password that was read at startup."
        )
        return parameters
    return parameters | {name: found[name] for name in ("user", "password") if name in found}
