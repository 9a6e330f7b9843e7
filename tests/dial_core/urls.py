"""Names of resources: `{kind}/{bucket}/{path}`, every segment percent-encoded once."""

from __future__ import annotations

import hashlib
from urllib.parse import quote, unquote

KINDS = ("files", "prompts", "conversations", "applications", "toolsets", "skills")


def canonical(path: str) -> str:
    """Return the canonical form of a path that was encoded once. A final slash is retained."""
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/"))


def plain(path: str) -> str:
    return "/".join(unquote(segment) for segment in path.split("/"))


def is_resource(url: str) -> bool:
    return url.split("/", 1)[0] in KINDS and url.count("/") >= 2


def bucket_of(url: str) -> str:
    return url.split("/")[1]


def bucket_named(owner: str) -> str:
    """Return the bucket of a storage location such as `Users/ann/` or `Keys/project/`."""
    return hashlib.sha256(owner.encode()).hexdigest()[:44]


def covers(granted: str, url: str) -> bool:
    """Return True if the URL is in the granted folder, which ends with a slash."""
    return url == granted or (granted.endswith("/") and url.startswith(granted))
