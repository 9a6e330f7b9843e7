"""Two scripts at one row: whoever says which version was read is told when it is no longer that.

`If-Match` with the ETag of an answer gives 412, a `version` in the body 409; without either the
last one wins. The answer tells what has changed since, where that is recorded.
"""

from __future__ import annotations

import re
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.history.conflicts import as_json, since
from apps.catalog.history.kinds import kind_of
from apps.console.api.problems import ChangedMeanwhile, PreconditionFailed
from apps.workspace.versions import Versioned


def etag(row: Versioned) -> str:
    return f'"{row.version}"'


def with_etag(response: Response, row: Versioned) -> Response:
    response["ETag"] = etag(row)
    return response


def check_version(request: Request, row: Versioned) -> None:
    """Raises `PreconditionFailed`, `ChangedMeanwhile`. `row` is locked by the caller."""
    written = request.headers.get("If-Match", "")
    wanted = [tag.strip().removeprefix("W/") for tag in written.split(",") if tag.strip()]
    if wanted and "*" not in wanted and etag(row) not in wanted:
        numbers = [int(tag.strip('"')) for tag in wanted if PLAIN_TAG.fullmatch(tag)]
        raise PreconditionFailed(
            f"The row is at version {row.version}; read it again.",
            told(row, max(numbers, default=0)),
        )
    body: Any = request.data
    if not isinstance(body, dict) or body.get("version") is None:
        return
    if body["version"] != row.version:
        raise ChangedMeanwhile(
            f"The row is at version {row.version}, you have changed version {body['version']!r}; "
            "read it again.",
            told(row, body["version"]),
        )


PLAIN_TAG = re.compile(r'"\d{1,9}"', re.ASCII)


def told(row: Versioned, version: Any) -> dict[str, Any]:
    """What others did since a version; nothing of it if there was no such version."""
    known = isinstance(version, int) and 0 < version < row.version
    if not known:
        return {"version": row.version, "changes": [], "differences": None}
    kind = kind_of(type(row))
    return {"version": row.version, **as_json(kind, row, since(kind, row.pk, version))}
