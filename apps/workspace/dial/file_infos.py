"""Parses file metadata in Core's listings and responses."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.datetimes import of_timestamp
from apps.workspace.dial.wire import CoreResponse, decode_body
from apps.workspace.stored_files import FileInfo, FolderInfo

ROOT = "files/"
UNKNOWN_TYPE = "application/octet-stream"


def file_info(item: Mapping[str, Any], path: str) -> FileInfo:
    # Core omits fields that it could determine only by opening the file.
    url, size = item.get("url"), item.get("contentLength")
    return FileInfo(
        path=url if isinstance(url, str) and url.startswith(ROOT) else path,
        content_type=str(item.get("contentType") or UNKNOWN_TYPE),
        size=size if isinstance(size, int) else 0,
        etag=plain_etag(str(item.get("etag") or "")),
        updated_at=moment(item.get("updatedAt")),
    )


def file_or_folder(item: Mapping[str, Any]) -> FileInfo | FolderInfo | None:
    url = item.get("url")
    if not isinstance(url, str) or not url.startswith(ROOT):
        return None
    if item.get("nodeType") == "FOLDER":
        return FolderInfo(f"{url.rstrip('/')}/")
    return file_info(item, url)


def plain_etag(written: str) -> str:
    """Return the ETag without its quotes and without the prefix `W/`, which proxies add."""
    return written.strip().removeprefix("W/").strip('"')


def moment(milliseconds: Any) -> datetime | None:
    if not isinstance(milliseconds, (int, float)) or isinstance(milliseconds, bool):
        return None
    return of_timestamp(milliseconds / 1000)


def info_of_content(path: str, answer: CoreResponse) -> FileInfo:
    return FileInfo(
        path=path,
        content_type=answer.headers.get("content-type") or UNKNOWN_TYPE,
        size=len(answer.body),
        etag=plain_etag(answer.headers.get("etag", "")),
        updated_at=None,
    )


def written_info(path: str, answer: CoreResponse, size: int, content_type: str) -> FileInfo:
    # Core omits fields that it stored unchanged.
    uploaded = decode_body(answer.body)
    sent = {"contentLength": size, "contentType": content_type, "etag": answer.headers.get("etag")}
    return file_info({**sent, **(uploaded if isinstance(uploaded, dict) else {})}, path)
