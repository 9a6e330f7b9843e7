"""Describes files and folders in DIAL's metadata format, which uses camel case, times in
milliseconds, and pagination.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, unquote

from apps.errors import BadRequest
from apps.integers import read_integer
from apps.workspace.stored_files import FileInfo, FolderInfo

USUAL_ITEMS = 100
MOST_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class MetadataQuery:
    """The query parameters of a metadata request."""

    limit: int = USUAL_ITEMS
    token: str = ""
    """The URL of the last file or folder on the previous page, or ""."""
    is_deep: bool = False
    """True to include the contents of subfolders."""
    with_permissions: bool = False


def read_metadata_query(written: bytes) -> MetadataQuery:
    """Parse the query string of a metadata request. Raises `BadRequest` if a parameter is
    invalid.
    """
    try:
        given = {name: values[0] for name, values in parse_qs(written.decode()).items()}
    except (ValueError, UnicodeError) as error:
        raise BadRequest(f"The query cannot be read: {error}") from error
    limit = read_integer(given.get("limit", str(USUAL_ITEMS)), MOST_ITEMS)
    if limit is None:
        raise BadRequest(f"limit: use a number from 0 to {MOST_ITEMS}.")
    return MetadataQuery(
        limit,
        given.get("token", ""),
        is_deep=given.get("recursive") == "true",
        with_permissions=given.get("permissions") == "true",
    )


def describe_entry(entry: FileInfo | FolderInfo) -> dict[str, Any]:
    if isinstance(entry, FolderInfo):
        return head(entry.path)
    return {
        **head(entry.path),
        "createdAt": milliseconds(entry.created_at),
        "updatedAt": milliseconds(entry.updated_at),
        "etag": entry.etag,
        "contentLength": entry.size,
        "contentType": entry.content_type,
    }


def head(url: str) -> dict[str, Any]:
    """Return the metadata that files and folders share.

    The URL of a folder ends with a slash. A bucket's root folder has no name.
    """
    _, bucket, *names = (unquote(segment) for segment in url.rstrip("/").split("/"))
    return {
        "name": names[-1] if names else None,
        "parentPath": "/".join(names[:-1]) + "/" if names[1:] else None,
        "bucket": bucket,
        "url": url,
        "nodeType": "FOLDER" if url.endswith("/") else "ITEM",
        "resourceType": "FILE",
    }


def milliseconds(moment: datetime | None) -> int | None:
    return int(moment.timestamp() * 1000) if moment is not None else None


def describe_folder(
    url: str, page: Sequence[FileInfo | FolderInfo], *, has_more: bool
) -> dict[str, Any]:
    found = {**head(url), "items": [describe_entry(entry) for entry in page]}
    if page and has_more:
        found["nextToken"] = page[-1].path
    return found
