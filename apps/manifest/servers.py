"""Finds the servers to which a document sends its credentials."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from apps.manifest.json_places import Keys, value_at

ADDRESSES = frozenset({"url", "base_url", "method_url", "token_url"})


def servers_of(document: Any, keys: Keys) -> frozenset[str]:
    """Return the servers to which the document sends the credential at `keys`.

    The result contains origins, and `predefined …` or `registered …` for servers that are declared
    elsewhere. A toolset's credential is treated as sent to all of the toolset's servers.
    """
    if keys[:1] == ("tool_sets",) and len(keys) > 1:
        document = value_at(document, keys[:2])
    found: set[str] = set()
    addresses: list[tuple[str, str]] = []
    rest = [document]
    while rest:
        value = rest.pop()
        rest += value if isinstance(value, list) else ()
        if isinstance(value, dict):
            rest += value.values()
            addresses += [(k, text) for k in ADDRESSES if isinstance(text := value.get(k), str)]
            found |= {
                f"{kind} {name}"
                for kind, key in (("predefined", "template_name"), ("registered", "server"))
                if isinstance(name := value.get(key), str)
            }
    return frozenset(found | origins(addresses))


def origins(addresses: Sequence[tuple[str, str]]) -> set[str]:
    """Return the origins of URLs. `addresses` are pairs of a key and a URL, which may be relative
    to the base URL.
    """
    has_base = any(key == "base_url" and url for key, url in addresses)
    return {
        origin_of(url)
        for key, url in addresses
        if (url or key != "base_url") and (key != "method_url" or has_host(url) or not has_base)
    }


def origin_of(url: str) -> str:
    """Return the lower-case origin of a URL without a default port. "/" means this server."""
    if url.startswith("/"):
        return "/"
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    scheme = parts.scheme.lower()
    host = f"[{host}]" if ":" in host else host
    is_usual = port in {None, {"http": 80, "https": 443}.get(scheme)}
    return f"{scheme}://{host}" if is_usual else f"{scheme}://{host}:{port}"


def host_and_port(url: str) -> str:
    """Return the host and port of a URL, because the other parts may contain a secret."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "a URL that cannot be read"
    return f"{parts.hostname}{port}" if parts.hostname else "this installation"


_scheme = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def has_host(url: str) -> bool:
    return bool(_scheme.match(url))


def query_pairs(url: str) -> list[str]:
    """Return the undecoded key-value pairs in the query of a URL."""
    query = url.partition("#")[0].partition("?")[2]
    return [pair for pair in query.split("&") if pair]
