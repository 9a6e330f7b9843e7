"""Addresses of files: a stored file, a URL, or nothing that can be loaded."""

import re
import unicodedata
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
    """`address`: a full path (`stored`), a path below a folder (`relative`), or a URL."""

    kind: Kind
    address: str


def place_of(url: str) -> Place:
    """Never raises: an address that cannot be read is `unsupported`."""
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
    # The storage refuses a path from the root, with a message that names the mistake.
    return Place("stored", text) if text.startswith("/") else Place("relative", encoded(path))


def place_of_url(text: str) -> Place:
    # Parsed by the library that connects, so that both see the same host.
    try:
        has_host = bool(urlsplit(text).hostname)
    except ValueError:
        has_host = False
    try:
        url = parse_url(text)
    except InvalidURL:  # an impossible host, as a fetch will say
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


def host_of(url: str) -> str:
    """The host of an external address, as the library that connects reads it; "" if it reads none."""
    try:
        return parse_url(url).host
    except InvalidURL:
        return ""


def origin(url: URL) -> tuple[str, bytes, int]:
    port = url.port or (443 if url.scheme == "https" else 80)
    return url.scheme, url.raw_host.lower().rstrip(b"."), port


def climbs(path: str) -> bool:
    """Whether a segment is `.` or `..`, percent-encoded or not."""
    return any(unquote(segment) in {".", ".."} for segment in path.split("/"))


def encoded(path: str) -> str:
    """Each segment percent-encoded once, whether it was before or not."""
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/"))


def home_path_problem(path: str) -> str:
    """Why an agent may not write to this relative path, read plain and decoded; "" if it may."""
    if not path:
        return "it is empty."
    if path.startswith(("/", ROOT)):
        return f"it is relative to your own folder: it begins neither with '/' nor with '{ROOT}'."
    if path.endswith("/"):
        return "it ends with '/', so it names a folder; name a file in it."
    if climbs(path):
        return "'.' and '..' are not possible in it."
    return next(filter(None, map(part_problem, path.split("/"))), "")


def part_problem(part: str) -> str:
    decoded = unquote(part)
    if not decoded.strip():
        return "it has an empty part between two slashes."
    if part != part.rstrip() or decoded != decoded.rstrip():
        return "a part of it ends with white space."
    if "/" in decoded or "\\" in decoded:
        return "a backslash, or an encoded slash, is not possible in it."
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in decoded):
        return "control characters are not possible in it."
    return ""
