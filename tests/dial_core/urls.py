"""Names of resources: `{kind}/{bucket}/{path}`, every segment percent-encoded once."""

from __future__ import annotations

import hashlib
from urllib.parse import quote, unquote

KINDS = ("files", "prompts", "conversations", "applications", "toolsets", "skills")


def canonical(path: str) -> str:
    """The one spelling under which a path that was encoded once is kept; a last slash stays."""
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/"))


def plain(path: str) -> str:
    return "/".join(unquote(segment) for segment in path.split("/"))


def is_resource(url: str) -> bool:
    return url.split("/", 1)[0] in KINDS and url.count("/") >= 2


def bucket_of(url: str) -> str:
    return url.split("/")[1]


def bucket_named(owner: str) -> str:
    """The bucket of a storage location such as `Users/ann/` or `Keys/project/`."""
    return hashlib.sha256(owner.encode()).hexdigest()[:44]


def covers(granted: str, url: str) -> bool:
    """A granted folder (it ends with a slash) covers what stands in it."""
    return url == granted or (granted.endswith("/") and url.startswith(granted))
