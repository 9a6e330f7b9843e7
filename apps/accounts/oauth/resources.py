"""Defines the OAuth scope of access tokens, and the resources to which tokens are bound (RFC 8707)."""

import re
from urllib.parse import urlsplit

from django.conf import settings

SCOPE = "mcp"
LONGEST_SLUG = 61
"""The maximum length of a slug with a version number, such as `travel@3`."""
_path = re.compile(r"/mcp(?:/([A-Za-z0-9_-]{1,50}(?:@[0-9]{1,10})?))?/?")


def resource_of(path: str) -> str:
    """Return the URI of the MCP resource at a path."""
    return f"{settings.PUBLIC_URL}{path.rstrip('/')}"


def slug_of(resource: str) -> str | None:
    """Return the application's slug in the URI of an MCP resource, or "" if the resource covers all
    applications. Return None for any other URI.
    """
    if not resource.startswith(settings.PUBLIC_URL):
        return None
    found = _path.fullmatch(resource.removeprefix(settings.PUBLIC_URL))
    return None if found is None else found[1] or ""


def covers(granted: str, resource: str) -> bool:
    """Return True if a token for the resource `granted` can be used at `resource`."""
    if slug_of(granted) is None:
        return False
    granted = granted.rstrip("/")
    return resource == granted or resource.startswith(f"{granted}/")


def document_host(client_id: str) -> str:
    """Return the host of an OAuth client's metadata document, or "" if the client has none."""
    return urlsplit(client_id).netloc if client_id.startswith("https://") else ""
