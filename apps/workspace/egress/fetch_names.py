"""Names of external URLs in messages, and of the files fetched from them."""

from __future__ import annotations

import hashlib
import mimetypes
from email.message import Message
from urllib.parse import unquote, urlsplit

SHOWN_CHARACTERS = 200
NAME_BYTES = 200
"""File systems take 255; what is put in front of a name needs some."""


def shown(url: str) -> str:
    """A URL without user, password, query and fragment; of a data: URI its scheme alone."""
    scheme, colon, _ = url.strip().partition(":")
    if colon and scheme.lower() == "data":
        return "data:…"
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return f"{scheme}:…" if colon and scheme.isalnum() else "(unreadable)"
    host = parts.netloc.rpartition("@")[2]
    named = parts._replace(netloc=host, query="", fragment="").geturl()
    named = "".join(c if c.isprintable() else "�" for c in named)
    return named if len(named) <= SHOWN_CHARACTERS else f"{named[:SHOWN_CHARACTERS]}…"


def name_of_file(url: str, disposition: str, content_type: str) -> str:
    """As the server calls it, else the end of the URL's path, else one made of the URL's hash."""
    given = usable(told(disposition)) or usable(unquote(last_segment(url)))
    if given:
        return given
    digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:16]
    return f"external-{digest}{mimetypes.guess_extension(content_type) or ''}"


def told(disposition: str) -> str:
    """The file name in a Content-Disposition header, in either of its spellings."""
    if not disposition:
        return ""
    header = Message()
    header["Content-Disposition"] = disposition
    try:
        return header.get_filename("") or ""
    except (LookupError, UnicodeError):  # a character set that is none
        return ""


def last_segment(url: str) -> str:
    try:
        return urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return ""


def usable(name: str) -> str:
    """A name that is no path and that storages take; "" when nothing of it remains."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    clean = "".join(c for c in last if c.isprintable()).strip(" .")
    if len(clean.encode("utf-8", "replace")) <= NAME_BYTES:
        return clean
    stem, dot, ending = clean.rpartition(".")
    if not stem or len(ending) > 16:
        stem, dot, ending = clean, "", ""
    room = NAME_BYTES - len(f"{dot}{ending}".encode("utf-8", "replace"))
    return f"{stem.encode('utf-8', 'replace')[:room].decode('utf-8', 'ignore')}{dot}{ending}"
