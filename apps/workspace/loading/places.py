"""What the address of a file points at: a stored file, the Internet, or nothing that is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from django.conf import settings

from apps.workspace.egress.clients import URL, InvalidURL, parse_url

Kind = Literal["stored", "relative", "external", "data", "unsupported"]

ROOT = "files/"

_scheme = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """`address` is the path of what is `stored`, below a folder of what is `relative`, or a URL."""

    kind: Kind
    address: str


def place_of(url: str) -> Place:
    """Never raises; what is not understood is `unsupported`."""
    text = url.strip()
    if not text or not text.isprintable():
        return Place("unsupported", text)
    scheme = _scheme.match(text)
    match scheme[1].lower() if scheme else "":
        case "":
            return place_of_path(text)
        case "data":
            return Place("data", text)
        case "http" | "https":
            return place_of_url(text)
        case _:
            return Place("unsupported", text)


def place_of_path(text: str) -> Place:
    path = text.removeprefix("/")
    if path.startswith("/") or "\\" in path or climbs(path):
        return Place("unsupported", text)
    if path.startswith(ROOT):
        return Place("stored", path)
    # A path from the root is a mistake that is told by whoever keeps the files.
    return Place("stored", text) if text.startswith("/") else Place("relative", encoded(path))


def place_of_url(text: str) -> Place:
    """Read by the library that dials, so that both see the same host."""
    try:
        has_host = bool(urlsplit(text).hostname)
    except ValueError:
        has_host = False
    try:
        url = parse_url(text)
    except InvalidURL:  # a host that nobody has, as a fetch will say
        return Place("external" if has_host else "unsupported", text)
    if not has_host or not url.host:
        return Place("unsupported", text)
    core = URL(settings.DIAL_URL) if settings.DIAL_URL else None
    if core is None or origin(url) != origin(core):
        return Place("external", text)
    path = url.raw_path.decode("ascii").partition("?")[0]
    path = path.removeprefix(core.raw_path.decode("ascii").rstrip("/"))
    path = path.removeprefix("/v1").removeprefix("/")
    return Place("unsupported", text) if climbs(path) else Place("stored", path)


def origin(url: URL) -> tuple[str, bytes, int]:
    port = url.port or (443 if url.scheme == "https" else 80)
    return url.scheme, url.raw_host.lower().rstrip(b"."), port


def climbs(path: str) -> bool:
    """Whether a segment leads upwards, however it is written."""
    return any(unquote(segment) in {".", ".."} for segment in path.split("/"))


def encoded(path: str) -> str:
    """Each segment percent-encoded once, whether it was before or not."""
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/"))
