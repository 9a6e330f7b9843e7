"""A stored key goes to the server that it was typed for, and nowhere else.

Otherwise whoever may edit a deployment could read its key: by having it sent to a server of theirs.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from apps.workspace.local.models import Deployment

TYPE_AGAIN = "The key was stored for another server. Type it again, or remove it."


def may_keep_key(stored: Deployment, base_url: str) -> bool:
    """Whether the stored key may be used at that address. `stored` is as it is in the database."""
    return not stored.api_key or server(stored.base_url) == server(base_url)


def server(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme.lower(), parts.netloc.lower()
