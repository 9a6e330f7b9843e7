"""The servers that a secret may be sent to, as an administrator writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.conf import settings

from apps.manifest.credentials import origin_of

_server = re.compile(
    r"(?P<scheme>https?)://(?P<host>(\*\.)?[a-z0-9]([a-z0-9_.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d+)?"
)
MOST_SERVERS = 50


def read_server(text: str) -> str:
    """An origin: `https://host`, with the port if it is unusual; `/` is this server itself.

    Without a scheme https is meant; `*.host` are the hosts below that one. Raises ValueError.
    """
    text = text.strip()
    if text == "/":
        return text
    written = text.lower().removesuffix("/")
    origin = origin_of(written if "://" in written else f"https://{written}")
    found = _server.fullmatch(origin)
    if found is None or not _is_server_alone(written):
        raise ValueError(
            f"{text[:100]!r} is not a server. Write one such as api.example.com, *.example.com or "
            "http://localhost:8080."
        )
    if found["host"].startswith("*.") and "." not in found["host"][2:]:
        raise ValueError(f"{text[:100]!r} are too many servers; name the ones that you mean.")
    return origin


def _is_server_alone(text: str) -> bool:
    """Whether there is neither a path behind nor a name before it."""
    return not set("/@?#\\ ") & set(text.partition("://")[2] or text)


def is_among(url: str, servers: Iterable[str]) -> bool:
    """Whether an address is on one of the servers (as `read_server` gives them)."""
    origin = origin_of(url)
    own = origin_of(settings.SITE_URL)
    if origin == "/":
        origin = own
    if not origin.isascii():
        return False  # it may be spelt in several ways, of which one is what is dialled
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
