"""Classifies file URLs as stored files, external URLs, or URLs that cannot be loaded."""

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
class FileLocation:
    """The location of a file. `address` is a full path (`stored`), a path relative to a folder
    (`relative`), or a URL.
    """

    kind: Kind
    address: str


def locate_file(url: str) -> FileLocation:
    """Return the location to which a file's URL refers. Never raises: an invalid URL is
    `unsupported`.
    """
    text = url.strip()
    if not text or not text.isprintable():
        return FileLocation("unsupported", text)
    scheme = _scheme.match(text)
    match scheme[1].lower() if scheme else "":
        case "":
            return location_of_path(text)
        case "data":
            return FileLocation("data", text)
        case "http" | "https":
            return location_of_url(text)
        case _:
            return FileLocation("unsupported", text)


def location_of_path(text: str) -> FileLocation:
    path = text.removeprefix("/")
    if path.startswith("/") or "\\" in path or climbs(path):
        return FileLocation("unsupported", text)
    if path.startswith(ROOT):
        return FileLocation("stored", path)
    # The storage rejects an absolute path and explains the mistake.
    return (
        FileLocation("stored", text)
        if text.startswith("/")
        else FileLocation("relative", encode_path(path))
    )


def location_of_url(text: str) -> FileLocation:
    # Use the HTTP client's own parser, so that the check and the client see the same host.
    try:
        has_host = bool(urlsplit(text).hostname)
    except ValueError:
        has_host = False
    try:
        url = parse_url(text)
    except InvalidURL:  # The host is invalid; a fetch reports that.
        return FileLocation("external" if has_host else "unsupported", text)
    if not has_host or not url.host:
        return FileLocation("unsupported", text)
    core = URL(settings.DIAL_URL) if settings.DIAL_URL else None
    if core is None or origin(url) != origin(core):
        return FileLocation("external", text)
    path = url.raw_path.decode("ascii").partition("?")[0]
    path = path.removeprefix(core.raw_path.decode("ascii").rstrip("/"))
    path = path.removeprefix("/v1").removeprefix("/")
    return FileLocation("unsupported", text) if climbs(path) else FileLocation("stored", path)


def external_host(url: str) -> str:
    """Return the host of an external URL, as the HTTP library parses it, or "" if there is none."""
    try:
        return parse_url(url).host
    except InvalidURL:
        return ""


def origin(url: URL) -> tuple[str, bytes, int]:
    port = url.port or (443 if url.scheme == "https" else 80)
    return url.scheme, url.raw_host.lower().rstrip(b"."), port


def climbs(path: str) -> bool:
    """Return True if a segment of the path is `.` or `..`, whether percent-encoded or not."""
    return any(unquote(segment) in {".", ".."} for segment in path.split("/"))


def encode_path(path: str) -> str:
    """Return the path with each segment percent-encoded once, whether or not it was encoded
    before.
    """
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/"))


def home_path_problem(path: str) -> str:
    """Return the reason why an agent may not write to this relative path, or "" if it may. The path
    may be percent-encoded.
    """
    if not path:
        return "it is empty."
    if path.startswith(("/", ROOT)):
        return f"it must be relative to your own folder, without '/' or '{ROOT}' at the beginning."
    if path.endswith("/"):
        return "it ends with '/', so it is a folder; use the path of a file in it."
    if climbs(path):
        return "'.' and '..' are not allowed in it."
    return next(filter(None, map(part_problem, path.split("/"))), "")


def part_problem(part: str) -> str:
    decoded = unquote(part)
    if not decoded.strip():
        return "it has an empty segment between two slashes."
    if part != part.rstrip() or decoded != decoded.rstrip():
        return "a segment of it ends with white space."
    if "/" in decoded or "\\" in decoded:
        return "a backslash or an encoded slash is not allowed in it."
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in decoded):
        return "control characters are not allowed in it."
    return ""
