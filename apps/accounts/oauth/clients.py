"""Checks OAuth client metadata that operators enter, or that clients send or publish."""

import re
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from allauth.idp.oidc.models import Client
from django.core.exceptions import ValidationError

from apps.accounts.oauth.resources import SCOPE

MOST_ADDRESSES = 10
LONGEST_ADDRESS = 500
GRANT_TYPES = frozenset({"authorization_code", "refresh_token"})
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
UNSAFE_SCHEMES = frozenset(
    {"about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript", "ws", "wss"}
    | {"chrome", "chrome-extension", "intent", "jar", "mailto", "tel", "view-source"}
)
"""The schemes that a redirect URI must not have, because they do not identify a single program."""
_scheme = re.compile(r"[a-z][a-z0-9+.-]*")
_host = re.compile(r"[a-z0-9.-]+|::1")
_visible = re.compile(r"[!-~]+")


def prepare_client(client: Client) -> None:
    """Set the scopes of a client that is not stored yet. Raises `ValidationError` if its metadata
    is not allowed.
    """
    addresses = client.get_redirect_uris()
    check_addresses(addresses)
    client.name = client.name.strip() or urlsplit(addresses[0]).netloc
    check_name(client.name)
    if not GRANT_TYPES.issuperset(client.get_grant_types()):
        raise ValidationError("Use only the grant_types authorization_code and refresh_token.")
    if client.get_response_types() != ["code"]:
        raise ValidationError('Set response_types to ["code"].')
    client.set_scopes([SCOPE])
    client.set_default_scopes([SCOPE])


def check_name(name: str) -> None:
    """Raise `ValidationError` if the name contains characters that are not printable."""
    if not name.isprintable():
        raise ValidationError("The name contains unprintable characters. Remove them.")


def check_addresses(addresses: Sequence[str]) -> None:
    """Raise `ValidationError` if there are no or too many redirect URIs, or one is not allowed."""
    if not addresses:
        raise ValidationError("Enter at least one redirect URI.")
    if len(addresses) > MOST_ADDRESSES:
        raise ValidationError(
            f"There are {len(addresses)} redirect URIs; the limit is {MOST_ADDRESSES}."
        )
    for address in addresses:
        check_address(address)


def check_address(address: str) -> None:
    """Raise `ValidationError` unless the redirect URI can belong to a program or a web site."""
    if len(address) > LONGEST_ADDRESS or not _visible.fullmatch(address):
        raise ValidationError("A redirect URI is too long, or contains invalid characters.")
    try:
        parts = urlsplit(address)
        is_allowed = is_safe(parts)
    except ValueError:
        is_allowed = False
    if not is_allowed:
        raise ValidationError(
            f"The redirect URI {address!r} is not allowed. Use https, http with a loopback "
            "address, or a custom URI scheme."
        )


def is_safe(parts: SplitResult) -> bool:
    if parts.fragment or parts.username or parts.password or parts.port == 0:
        return False
    host = parts.hostname or ""
    if parts.scheme == "https":
        return _host.fullmatch(host) is not None
    if parts.scheme == "http":
        return host in LOOPBACK
    return _scheme.fullmatch(parts.scheme) is not None and parts.scheme not in UNSAFE_SCHEMES


def redirect_source(address: str) -> str:
    """Return the `form-action` source of a content security policy that allows this redirect URI."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or ":" in host:
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def redirect_host(address: str) -> str:
    """Return the host of the redirect URI, or "" if it leads to a program on the user's device."""
    parts = urlsplit(address)
    is_site = parts.scheme == "https" and parts.hostname not in LOOPBACK
    return parts.netloc.rpartition("@")[2] if is_site else ""


def loopback_address(address: str) -> str:
    """Return a `localhost` redirect URI with the host 127.0.0.1 instead, or "" for any other URI."""
    start, port, rest = address.partition("http://localhost")
    is_local = not start and port and (not rest or rest[0] in ":/?")
    return f"http://127.0.0.1{rest}" if is_local else ""
