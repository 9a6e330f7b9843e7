"""Parses lists of servers to which a secret may be sent."""

import re
from collections.abc import Iterable

from django.conf import settings

from apps.manifest.servers import origin_of

_server = re.compile(
    r"(?P<scheme>https?)://(?P<host>(\*\.)?[a-z0-9]([a-z0-9_.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d+)?"
)
MOST_SERVERS = 50


def read_server(text: str) -> str:
    """Parse a server that an administrator entered, and return its origin: `https://host`, with a
    port unless it is the default.

    The scheme defaults to https. `/` means this server, and `*.host` means all subdomains of a
    host. Raises ValueError if the server is invalid.
    """
    text = text.strip()
    if text == "/":
        return text
    written = text.lower().removesuffix("/")
    origin = origin_of(written if "://" in written else f"https://{written}")
    found = _server.fullmatch(origin)
    if found is None or not _is_server_alone(written):
        raise ValueError(
            f"{text[:100]!r} is not a server. Use a format such as api.example.com, "
            "*.example.com or http://localhost:8080."
        )
    if found["host"].startswith("*.") and "." not in found["host"][2:]:
        raise ValueError(f"{text[:100]!r} matches too many servers; use a more specific name.")
    return origin


def _is_server_alone(text: str) -> bool:
    """Return True if the URL has no path, query, fragment or username."""
    return not set("/@?#\\ ") & set(text.partition("://")[2] or text)


def is_among(url: str, servers: Iterable[str]) -> bool:
    """Return True if the URL is on one of these servers, in the format that `read_server` returns."""
    origin = origin_of(url)
    own = origin_of(settings.SITE_URL)
    if origin == "/":
        origin = own
    if not origin.isascii():
        return False  # Such a host has several spellings, of which the client uses one.
    return any(_fits(origin, own if server == "/" else server) for server in servers)


def _fits(origin: str, server: str) -> bool:
    scheme, _, host = server.partition("://")
    if not host.startswith("*."):
        return origin == server
    return (
        origin.startswith(f"{scheme}://")
        and origin.endswith(host[1:])
        and (len(origin) > len(f"{scheme}://") + len(host) - 1)
    )
