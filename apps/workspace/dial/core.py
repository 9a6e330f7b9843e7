"""Defines the URL and settings of DIAL Core, and encodes names in its paths."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit

from django.conf import settings

from apps.errors import DeploymentNotFound

SAFE = "!$&'()*+,;=:@"
"""The characters that are not encoded in a path segment, in addition to letters, digits and -._~
(RFC 3986).
"""
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Core:
    url: str  # without a final slash
    api_version: str = "2025-01-01-preview"
    metadata_seconds: float = 60.0
    """The maximum age of cached metadata."""
    sign_in_seconds: float = 120.0
    """The time limit for a sign-in."""

    def path_of(self, url: str) -> str | None:
        """Return the path of a full URL on this Core, without `/v1/`, or None for any other URL.

        The URL is parsed, not compared as text: `http://core.example.evil` is not on
        `http://core.example`.
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
    """Return the configured Core, or None for an installation without DIAL."""
    if not settings.DIAL_URL:
        return None
    return Core(
        settings.DIAL_URL,
        settings.DIAL_API_VERSION,
        sign_in_seconds=settings.DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS,
    )


def origin(place: object) -> tuple[str, str, int]:
    """Return the scheme, host and port of a parsed URL. Raises ValueError for an invalid port."""
    scheme = getattr(place, "scheme", "").lower()
    host = (getattr(place, "hostname", None) or "").rstrip(".")
    return scheme, host, getattr(place, "port", None) or PORTS.get(scheme, 0)


def encode_path(name: str) -> str:
    """Percent-encode each segment of an ID or a path once. Segments that are already encoded remain
    unchanged.

    Raises ValueError for an ambiguous name: a name with empty segments, `.`, `..`, slashes inside a
    segment, or control characters.
    """
    return "/".join(map(encoded_segment, name.split("/")))


def encoded_segment(segment: str) -> str:
    """Percent-encode a path segment once. Raises `ValueError` if the segment is ambiguous or
    contains control characters.
    """
    plain = unquote(segment, errors="strict")
    if plain in ("", ".", "..") or "/" in plain or "\\" in plain:
        raise ValueError(f"{segment!a} is not a valid segment of a path.")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in plain):
        raise ValueError(f"{segment!a} contains control characters.")
    return quote(plain, safe=SAFE)


def path_segment(deployment_id: str) -> str:
    """Return the deployment's ID, encoded as one path segment. Raises `DeploymentNotFound` for an
    invalid ID.
    """
    try:
        return encode_path(deployment_id)
    except ValueError:
        raise DeploymentNotFound(deployment_id) from None
