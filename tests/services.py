"""Real services that the tests can use.

    python -m tests.services postgres

The exit status is 0 if the service answers. If a service is absent, one line reports that its tests
are skipped, and the reason.
"""

from __future__ import annotations

import os
import socket
import sys
from urllib.parse import urlsplit

SERVICES = {
    "postgres": ("PostgreSQL", "TEST_DATABASE_URL", 5432),
    "redis": ("Redis", "TEST_REDIS_URL", 6379),
}


def absence(service: str) -> str:
    """Return the reason why the service cannot be used as one line, or "" if it answers."""
    title, variable, port = SERVICES[service]
    address = os.environ.get(variable, "")
    if not address:
        return f"{title} tests skipped: {variable} is not set."
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", parts.port or port), 3).close()
    except OSError as error:
        return f"{title} tests skipped: nothing answers at {variable} ({error})."
    return ""


if __name__ == "__main__":
    reason = absence(sys.argv[1])
    if reason:
        sys.exit(reason)
