"""Files, prompts, conversations, applications and toolsets: bytes by URL, with an ETag."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.dial_core.configuration import camel_case, snake_case
from tests.dial_core.exchange import Exchange
from tests.dial_core.listings import listed
from tests.dial_core.permissions import READ, WRITE, need, permissions
from tests.dial_core.refusals import Refusal
from tests.dial_core.urls import canonical, is_resource, plain

TYPES = {
    "files": "FILE",
    "prompts": "PROMPT",
    "conversations": "CONVERSATION",
    "applications": "APPLICATION",
    "toolsets": "TOOL_SET",
    "skills": "SKILL",
}
REQUIRED = {
    "prompts": ("id", "name", "folderId", "content"),
    "conversations": ("id", "folderId", "name", "model"),
}
METADATA = "application/vnd.dial.metadata+json"
MOST_ITEMS = 1000
UPLOAD_LIMIT = 512 * 2**20
"""The maximum size of a file in bytes, which is Core's default."""


@dataclass(frozen=True, slots=True)
class Item:
    """A resource. `url` is canonical; times are in milliseconds."""

    url: str
    content: bytes = field(repr=False)
    content_type: str
    author: str
    created: int
    updated: int

    @property
    def etag(self) -> str:
        return hashlib.md5(self.content, usedforsecurity=False).hexdigest()


class Storage:
    """The stored resources by URL."""

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}

    def put(self, url: str, content: bytes, content_type: str, author: str = "") -> Item:
        now, before = time.time_ns() // 1_000_000, self.items.get(url)
        created = now if before is None else before.created
        self.items[url] = item = Item(url, content, content_type, author, created, now)
        return item

    def below(self, folder: str) -> list[Item]:
        """Return the resources below a folder, by URL. The folder ends with a slash."""
        return [self.items[url] for url in sorted(self.items) if url.startswith(folder)]


def check_etag(headers: Mapping[str, str], item: Item | None) -> None:
    """Raise `Refusal` if a condition of the request does not hold."""
    none_match = headers.get("if-none-match")
    if none_match is not None:
        if none_match != "*":
            raise Refusal(400, "only header if-none-match=* is supported")
        if item is not None:
            raise Refusal(412, "Resource already exists")
    match = headers.get("if-match")
    if match is None or match == "*":
        return
    etags = {part.strip().removeprefix("W/").strip('"') for part in match.split(",")}
    if item is None or item.etag not in etags:
        found = "" if item is None else item.etag
        raise Refusal(412, f"If-match condition is failed for etag: {found}")


def item_url(kind: str, path: str) -> str:
    """Return the URL. Raises `Refusal` for a folder and for an invalid path."""
    url = canonical(f"{kind}/{path}")
    if url.endswith("/") or not is_resource(url):
        raise Refusal(400, f"Invalid resource url provided: {url}")
    if any(segment in ("", ".", "..") for segment in plain(url).split("/")):
        raise Refusal(400, f"Invalid resource url provided: {url}")
    return url


async def put(exchange: Exchange, kind: str, path: str) -> Response:
    core, caller, url = exchange.core, exchange.caller, item_url(kind, path)
    if any(segment.endswith(".") for segment in plain(url).split("/")):
        raise Refusal(400, "Resource name and/or parent folders must not end with .(dot)")
    need(caller, url, WRITE)
    if kind == "files":
        content, content_type = await uploaded(exchange)
    else:
        content, content_type = document(exchange, kind, url), "application/json"
    check_etag(exchange.headers, core.storage.items.get(url))
    item = core.storage.put(url, content, content_type, caller.identity.name)
    return JSONResponse(item_metadata(item), headers={"etag": item.etag})


async def uploaded(exchange: Exchange) -> tuple[bytes, str]:
    if len(exchange.body) > UPLOAD_LIMIT:
        raise Refusal(413, "Request body is too large")
    if not exchange.headers.get("content-type", "").startswith("multipart/form-data"):
        raise Refusal(400, "Request must have a content-type header to decode a multipart request")
    async with Request(exchange.request.scope, replayed(exchange.body)).form() as form:
        for part in form.values():
            if isinstance(part, UploadFile):
                return await part.read(), part.content_type or "application/octet-stream"
    raise Refusal(400, "No file was uploaded")


def replayed(body: bytes) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def document(exchange: Exchange, kind: str, url: str) -> bytes:
    fields = exchange.json()
    missing = [name for name in REQUIRED.get(kind, ()) if fields.get(name) is None]
    if missing:
        raise Refusal(400, f"Missing required fields: {', '.join(missing)}")
    if kind in ("applications", "toolsets"):
        fields = {camel_case(name): value for name, value in fields.items()}
        before = exchange.core.storage.items.get(url)
        kept = json.loads(before.content) if before is not None else {}
        fields["reference"] = kept.get("reference", str(uuid.uuid4()))
    if kind == "applications":
        check_application(exchange, fields)
    return json.dumps(fields).encode()


def check_application(exchange: Exchange, fields: Mapping[str, Any]) -> None:
    schema_id = fields.get("applicationTypeSchemaId")
    if schema_id is None:
        return
    schema = exchange.core.configuration.schemas.get(schema_id)
    if schema is None:
        raise Refusal(400, f"Custom application schema is not found: {schema_id}")
    if fields.get("endpoint"):
        raise Refusal(400, "Endpoint must not be set for an application of a type")
    properties = fields.get("applicationProperties")
    errors = [] if properties is None else list(invalid(schema, properties))
    if errors:
        raise Refusal(400, f"Custom application properties are invalid: {errors[0]}")


def invalid(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[str]:
    known = {name: value for name, value in schema.items() if not name.startswith(("dial:", "$"))}
    judged = {**known, "$defs": schema.get("$defs", {})}
    for error in jsonschema.Draft7Validator(judged).iter_errors(properties):
        yield error.message


async def get(exchange: Exchange, kind: str, path: str) -> Response:
    core, caller, url = exchange.core, exchange.caller, item_url(kind, path)
    need(caller, url, READ)
    item = core.storage.items.get(url)
    if item is None:
        raise Refusal(404)
    check_etag({n: v for n, v in exchange.headers.items() if n == "if-match"}, item)
    headers = {"etag": item.etag}
    if kind in ("applications", "toolsets"):
        return JSONResponse(shown(exchange, item), headers=headers)
    response = Response(item.content, headers=headers)
    response.headers["content-type"] = item.content_type
    return response


def shown(exchange: Exchange, item: Item) -> dict[str, Any]:
    """Return everything to those who may write it and to the application itself, and the listing to
    others."""
    caller, fields = exchange.caller, json.loads(item.content)
    deployment = exchange.core.custom(item.url)
    found = {} if deployment is None else listed(caller, deployment)
    is_itself = caller.key is not None and caller.key.deployment == item.url
    if is_itself or WRITE in permissions(caller, item.url):
        found |= {snake_case(name): value for name, value in fields.items()}
    if deployment is not None and deployment.schema is not None and deployment.properties:
        errors = list(invalid(deployment.schema, deployment.properties))
        found |= {"invalid": True} if errors else {}
    return found


async def delete(exchange: Exchange, kind: str, path: str) -> Response:
    core, caller, url = exchange.core, exchange.caller, item_url(kind, path)
    need(caller, url, WRITE)
    item = core.storage.items.get(url)
    check_etag({n: v for n, v in exchange.headers.items() if n == "if-match"}, item)
    if item is None and kind != "files":
        raise Refusal(404)
    core.storage.items.pop(url, None)
    return Response()


def head(url: str) -> dict[str, Any]:
    kind, bucket, *parts = url.rstrip("/").split("/")
    parent = "/".join(plain(part) for part in parts[:-1])
    return {
        "name": plain(parts[-1]) if parts else None,
        "parentPath": f"{parent}/" if parent else None,
        "bucket": bucket,
        "url": url,
        "nodeType": "FOLDER" if url.endswith("/") else "ITEM",
        "resourceType": TYPES[kind],
    }


def item_metadata(item: Item) -> dict[str, Any]:
    found = {
        **head(item.url),
        "createdAt": item.created,
        "updatedAt": item.updated,
        "etag": item.etag,
        "author": item.author,
    }
    if item.url.startswith("files/"):
        found |= {"contentLength": len(item.content), "contentType": item.content_type}
    return found


async def metadata(exchange: Exchange, kind: str, path: str) -> Response:
    """Return the metadata of the item, or of the folder if the path ends with a slash or names only
    a folder."""
    core, caller, url = exchange.core, exchange.caller, canonical(f"{kind}/{path}")
    need(caller, url, READ)
    item = core.storage.items.get(url)
    folder = url if url.endswith("/") else f"{url}/"
    if item is not None:
        found = item_metadata(item)
    elif url.endswith("/") or core.storage.below(folder):
        found = folder_metadata(exchange, folder)
    else:
        raise Refusal(404)
    if exchange.flag("permissions"):
        found["permissions"] = sorted(permissions(caller, url))
        for one in found.get("items", ()):
            one["permissions"] = sorted(permissions(caller, one["url"]))
    accepted = exchange.headers.get("accept", "")
    return JSONResponse(found, media_type=METADATA if METADATA in accepted else None)


def folder_metadata(exchange: Exchange, folder: str) -> dict[str, Any]:
    below = exchange.core.storage.below(folder)
    if not below and folder.count("/") > 2:
        raise Refusal(404)
    entries: dict[str, dict[str, Any]] = {}
    for item in below:
        first, slash, _ = item.url.removeprefix(folder).partition("/")
        if slash and not exchange.flag("recursive"):
            url = f"{folder}{first}/"
            entries.setdefault(url, head(url))
        else:
            entries[item.url] = item_metadata(item)
    return {**head(folder), **page(exchange, sorted(entries.items()))}


def page(exchange: Exchange, entries: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return a page. The token of the next page is the last URL of this one."""
    query = exchange.request.query_params
    limit = query.get("limit", "100")
    if not limit.isdigit() or int(limit) > MOST_ITEMS:
        raise Refusal(400, f"Limit is out of allowed range: [0, {MOST_ITEMS}]")
    rest = [entry for entry in entries if entry[0] > query.get("token", "")]
    shown = rest[: int(limit)]
    found: dict[str, Any] = {"items": [one for _, one in shown]}
    if shown and len(rest) > len(shown):
        found["nextToken"] = shown[-1][0]
    return found
