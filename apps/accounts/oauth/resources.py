"""Defines the OAuth scope of access tokens, and the resources to which tokens are bound (RFC 8707)."""

import re

from django.conf import settings

SCOPE = "mcp"
_path = re.compile(r"/mcp(?:/([A-Za-z0-9_-]+(?:@[0-9]+)?))?/?")


def resource_of(path: str) -> str:
    """Return the URI that identifies the MCP server's resource at a path."""
    return f"{settings.PUBLIC_URL}{path.rstrip('/')}"


def slug_of(resource: str) -> str | None:
    """Return the application's slug in the URI of an MCP resource, or "" for the resource with all
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
