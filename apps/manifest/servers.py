"""The servers that a document sends its credentials to."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from apps.manifest.places import Keys, value_at
from apps.manifest.toolsets import has_host

ADDRESSES = frozenset({"url", "base_url", "method_url", "token_url"})


def servers_of(document: Any, keys: Keys) -> frozenset[str]:
    """Where the credential at a place is sent, as far as the document says.

    Origins, and `predefined …` and `registered …` for what is written elsewhere. All of a toolset
    counts as one.
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
    """The servers of addresses by their keys; below a base, those without a host are on its own."""
    has_base = any(key == "base_url" and url for key, url in addresses)
    return {
        origin_of(url)
        for key, url in addresses
        if (url or key != "base_url") and (key != "method_url" or has_host(url) or not has_base)
    }


def origin_of(url: str) -> str:
    """Scheme, host and port where it is not the usual one, in lower case; "/" for this server."""
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


def query_pairs(url: str) -> list[str]:
    """The pairs of an address's query, as they are written."""
    query = url.partition("#")[0].partition("?")[2]
    return [pair for pair in query.split("&") if pair]
