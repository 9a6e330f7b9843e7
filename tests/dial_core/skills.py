"""Skills are folders with a `SKILL.md`, read one file at a time or completely as a ZIP archive.

The files of `skills/{bucket}/{path}` are stored under that URL and `/files/`.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.dial_core.exchange import Exchange
from tests.dial_core.permissions import READ, need
from tests.dial_core.refusals import Refusal
from tests.dial_core.resources import Item, head, page
from tests.dial_core.urls import canonical, plain

FILES = "/files/"


def files_of(exchange: Exchange, skill: str) -> list[Item]:
    """Return the files. Raises `Refusal` for anything that is not a skill or that the caller may
    not read."""
    need(exchange.caller, skill, READ)
    found = exchange.core.storage.below(f"{skill}{FILES}")
    if not found:
        raise Refusal(404)
    return found


async def archive(exchange: Exchange, path: str) -> Response:
    skill = canonical(f"skills/{path}")
    files, target = files_of(exchange, skill), io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
        for file in files:
            packed.writestr(plain(file.url.removeprefix(f"{skill}{FILES}")), file.content)
    etags = "".join(file.etag for file in files).encode()
    etag = hashlib.md5(etags, usedforsecurity=False).hexdigest()
    return Response(target.getvalue(), media_type="application/zip", headers={"etag": etag})


async def file(exchange: Exchange, path: str, file: str) -> Response:
    skill = canonical(f"skills/{path}")
    need(exchange.caller, skill, READ)
    found = exchange.core.storage.items.get(canonical(f"{skill}{FILES}{file}"))
    if found is None:
        raise Refusal(404)
    return Response(found.content, headers={"etag": found.etag, "content-type": found.content_type})


async def file_listing(exchange: Exchange, path: str, folder: str | None = None) -> Response:
    skill = canonical(f"skills/{path}")
    below = f"{skill}{FILES}" + (canonical(folder).rstrip("/") + "/" if folder else "")
    urls = [one.url for one in files_of(exchange, skill) if one.url.startswith(below)]
    return listing(exchange, below, urls)


async def skill_listing(exchange: Exchange, path: str) -> Response:
    folder = canonical(f"skills/{path}").rstrip("/") + "/"
    need(exchange.caller, folder, READ)
    urls = {one.url.partition(FILES)[0] for one in exchange.core.storage.below(folder)}
    return listing(exchange, folder, sorted(urls))


def listing(exchange: Exchange, folder: str, urls: list[str]) -> Response:
    """List without sizes and ETags. A recursive listing is flat and without folders."""
    entries: dict[str, dict[str, Any]] = {}
    for url in urls:
        first, slash, _ = url.removeprefix(folder).partition("/")
        found = url if not slash or exchange.flag("recursive") else f"{folder}{first}/"
        entries[found] = head(found)
    return JSONResponse({**head(folder), **page(exchange, sorted(entries.items()))})
