"""The address of DIAL Core, and the encoding of names in its paths."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit

from django.conf import settings

from apps.errors import DeploymentNotFound

SAFE = "!$&'()*+,;=:@"
"""Characters that are not encoded in a segment of a path, beside letters, digits and -._~ (RFC 3986)."""
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Core:
    """`url` has no final slash; `metadata_seconds` is the maximum age of metadata,
    `sign_in_seconds` the time a person has to sign in."""

    url: str
    api_version: str = "2025-01-01-preview"
    metadata_seconds: float = 60.0
    sign_in_seconds: float = 120.0

    def path_of(self, url: str) -> str | None:
        """The path, without /v1/, of a full URL on this Core; None for any other URL.

        Parsed, not compared as text: `http://core.example.evil` is not on `http://core.example`.
        """
        try:
            place, own = urlsplit(url), urlsplit(self.url)
            same = origin(place) == origin(own)
        except ValueError:
            return None
        if not same or "@" in place.netloc or not place.path.startswith(f"{own.path}/"):
            return None
        return place.path.removeprefix(f"{own.path}/").removeprefix("v1/")


def target(path: str, query: Mapping[str, str] | None = None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def configured_core() -> Core | None:
    """Core as configured; None for an installation without DIAL."""
    if not settings.DIAL_URL:
        return None
    return Core(
        settings.DIAL_URL,
        settings.DIAL_API_VERSION,
        settings.DIAL_METADATA_CACHE_SECONDS,
        settings.DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS,
    )


def origin(place: object) -> tuple[str, str, int]:
    """Raises ValueError for an invalid port."""
    scheme = getattr(place, "scheme", "").lower()
    host = (getattr(place, "hostname", None) or "").rstrip(".")
    return scheme, host, getattr(place, "port", None) or PORTS.get(scheme, 0)


def encoded(name: str) -> str:
    """An id or a path with each segment percent-encoded once, encoded before or not.

    Raises ValueError for ambiguous names: with empty segments, `.`, `..`, slashes inside of a
    segment, or control characters.
    """
    return "/".join(map(encoded_segment, name.split("/")))


def encoded_segment(segment: str) -> str:
    """Raises ValueError."""
    plain = unquote(segment, errors="strict")
    if plain in ("", ".", "..") or "/" in plain or "\\" in plain:
        raise ValueError(f"{segment!a} is no part of a path.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in plain):
        raise ValueError(f"{segment!a} has control characters.")
    return quote(plain, safe=SAFE)


def path_segment(deployment_id: str) -> str:
    """Raises `DeploymentNotFound` for an impossible id."""
    try:
        return encoded(deployment_id)
    except ValueError:
        raise DeploymentNotFound(deployment_id) from None
