"""Checks operators' URLs before a request is sent to them."""

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from apps.workspace.egress.clients import InvalidURL, parse_url
from apps.workspace.egress.guard import Trust

NO_HOST = "the host is not a valid name."


class AddressInvalid(ValueError):
    """Raised if a URL cannot be used. The message contains the reason and what to use instead."""


@dataclass(frozen=True, slots=True)
class OperatorUrl:
    """A parsed URL."""

    parts: SplitResult
    """The parts of the full URL."""
    is_site: bool
    """True if the URL began with `/`, which means that it is on this server."""

    @property
    def trust(self) -> Trust:
        return Trust.SITE if self.is_site else Trust.OPERATOR

    @property
    def origin(self) -> str:
        return f"{self.parts.scheme}://{self.parts.netloc}"


def read_url(url: str) -> OperatorUrl:
    """Parse a URL that an operator entered. Raises `AddressInvalid` if it is not a valid HTTP URL,
    or contains credentials.
    """
    is_site = url.startswith("/")
    try:
        parts = urlsplit(f"{settings.SITE_URL}{url}" if is_site else url)
        port = parts.port
    except ValueError as error:
        raise AddressInvalid(f"the URL is not valid ({error}).") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise AddressInvalid("use a URL that begins with http://, https:// or /.")
    if "@" in parts.netloc:
        raise AddressInvalid(
            "remove the username and password; use `authorization` of the toolset."
        )
    if any(mark in parts.netloc for mark in "{}\\% ") or port == 0:
        raise AddressInvalid("the host cannot be used; placeholders are allowed only in the path.")
    if not has_usable_host(parts.geturl()):
        raise AddressInvalid(NO_HOST)
    return OperatorUrl(parts, is_site)


def has_usable_host(url: str) -> bool:
    """Return True if the host of an absolute URL is a valid name, even if no such host exists."""
    try:
        parts = urlsplit(url)
        parse_url(f"{parts.scheme}://{parts.netloc}")
    except (ValueError, InvalidURL):
        return False
    return True
