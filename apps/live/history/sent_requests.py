"""Stores and reads model requests. A message or tool that several requests of a conversation
contain is stored once.

All functions run on a database thread, so that they do not delay answers.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, Model, OuterRef, Q
from django.utils import timezone

from apps.accounts.legal_holds import holds
from apps.catalog.credentials.masking import seal_of
from apps.insights.meter import KeptRequest
from apps.live.events import storable_value
from apps.live.history.packing import unpack_text
from apps.live.models import Run
from apps.live.run_summary import LONGEST_NAME, RunSummary
from apps.live.sent_request_rows import DIGEST_CHARACTERS, SentPart, SentRequestRow
from apps.manifest.secrets import HIDDEN, reads_as_credential
from apps.old_rows import AT_ONCE
from apps.process_state import AgedCache

Values = tuple[Any, ...]
Members = list[list[Any]]
HEADERS = "headers"


class StoredPart(msgspec.Struct, frozen=True, gc=False):
    """The values of a `SentPart` row. Creating this object is ten times faster than creating a
    model instance.
    """

    text: str
    size: int
    """The size in bytes before truncation."""


Parts = dict[tuple[UUID, str], StoredPart]
"""Maps stream IDs and digests to stored messages and tools."""
COLUMNS = ("id", "stream", "run", "at", "application", "model", "members", "prompt", "private")
PART_COLUMNS = ("stream", "digest", "text", "size")
IF_NEW = "ON CONFLICT DO NOTHING"
LARGEST_PART = 256 * 1024
"""Stored messages and tools are truncated to this many bytes, so most images are not stored
completely.
"""
LISTS = frozenset({"messages", "input", "system", "tools"})
"""The request fields whose items are stored separately, in chat completions, the Responses API and
Anthropic's API.
"""
INSTRUCTIONS = frozenset({"instructions", "system"})
"""The request fields that contain the system prompt as text."""
KNOWN_SECONDS = 3600.0
"""The time in seconds for which a process remembers that a message or tool is stored. It must be
shorter than the retention of stored messages.
"""
MOST_KNOWN = 20_000

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_known: AgedCache[tuple[UUID, str], bool] = AgedCache(MOST_KNOWN)


def write(requests: Sequence[KeptRequest]) -> None:
    """Store model requests, except for conversations that were deleted in the meantime."""
    rows: list[Values] = []
    parts: Parts = {}
    for kept in without_deleted(requests):
        members, found = split_request(kept.stream, kept.request.body)
        rows.append(values_of(kept, members))
        parts |= {key: part for key, part in found.items() if not is_known(key)}
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        # `bulk_create` takes several times as long, and a request has many parts.
        insert(cursor, SentPart, PART_COLUMNS, map(part_values, parts.items()), IF_NEW)
        insert(cursor, SentRequestRow, COLUMNS, rows)
    now = time.monotonic()
    for key in parts:
        _known.put(key, True, now)


def insert(
    cursor: Any, model: type[Model], columns: Sequence[str], rows: Iterable[Values], end: str = ""
) -> None:
    names, places = ", ".join(columns), ", ".join(["%s"] * len(columns))
    table = model._meta.db_table
    statement = f"INSERT INTO {table} ({names}) VALUES ({places}) {end}"  # noqa: S608 - no values
    cursor.executemany(statement, list(rows))


def is_known(key: tuple[UUID, str]) -> bool:
    return _known.get(key, KNOWN_SECONDS) is True


def without_deleted(requests: Sequence[KeptRequest]) -> Iterator[KeptRequest]:
    ours = {kept.run for kept in requests if kept.is_of_page}
    there = set(Run.objects.filter(pk__in=ours).values_list("pk", flat=True)) if ours else ours
    for kept in requests:
        if not kept.is_of_page or kept.run in there:
            yield kept


def values_of(kept: KeptRequest, members: Members) -> Values:
    """Return the values for the columns in `COLUMNS`."""
    prompt = [[span.layer, span.source, span.length] for span in kept.request.prompt]
    written = (members, prompt, sorted(kept.request.private))
    return (
        uuid4().hex,
        kept.stream.hex,
        kept.run.hex,
        connection.ops.adapt_datetimefield_value(datetime.fromtimestamp(kept.at, UTC)),
        kept.application[:LONGEST_NAME],
        kept.request.model[:LONGEST_NAME],
        *(msgspec.json.encode(storable_value(one)).decode() for one in written),
    )


def part_values(found: tuple[tuple[UUID, str], StoredPart]) -> Values:
    """Return the values for the columns in `PART_COLUMNS`."""
    (stream, digest), part = found
    return (stream.hex, digest, part.text, part.size)


def split_request(stream: UUID, body: bytes) -> tuple[Members, Parts]:
    """Split a request's JSON into its fields, and the messages and tools to which the fields refer
    by digest.

    A field is `[key, "parts", digests]`, `[key, "part", digest]` or `[key, "value", value]`. The
    fields form a list, because PostgreSQL does not preserve the order of keys.
    """
    members: Members = []
    parts: Parts = {}

    def digest_of(raw: bytes) -> str:
        digest = hashlib.blake2b(raw, digest_size=DIGEST_CHARACTERS // 2).hexdigest()
        text = raw[:LARGEST_PART].decode(errors="ignore")
        parts[stream, digest] = StoredPart(text, len(raw))
        return digest

    for key, raw in _decode(body).items():
        written = bytes(raw)
        if key in LISTS and written.startswith(b"["):
            items = map(bytes, _decode_list(written))
            items = map(masked_tool, items) if key == "tools" else items
            members.append([key, "parts", [*map(digest_of, items)]])
        elif key in INSTRUCTIONS:
            members.append([key, "part", digest_of(written)])
        else:
            members.append([key, "value", masked_member(key, msgspec.json.decode(written))])
    return members, parts


def requests_of(run: UUID) -> list[tuple[SentRequestRow, Mapping[str, StoredPart]]]:
    """Return the run's model requests in order, each with its stored messages and tools by digest."""
    rows = list(SentRequestRow.objects.filter(run=run).order_by("at", "pk"))
    digests = {digest for row in rows for digest in digests_in(row.members)}
    stored = SentPart.objects.filter(stream__in={row.stream for row in rows}, digest__in=digests)
    parts = {part.digest: StoredPart(unpack_text(part.text), part.size) for part in stored}
    return [(row, parts) for row in rows]


def digests_in(members: Iterable[Sequence[Any]]) -> Iterator[str]:
    for _, form, value in members:
        if form == "parts":
            yield from value
        elif form == "part":
            yield value


def delete_old() -> int:
    """Delete model requests that are older than `RUN_ROWS_DAYS`, except those under a legal hold.
    Return the number of deleted requests.
    """
    if not settings.RUN_ROWS_DAYS:
        return 0
    before = timezone.now() - timedelta(days=settings.RUN_ROWS_DAYS)
    of_held_user = RunSummary.objects.filter(holds("bucket"), pk=OuterRef("run"))
    held = holds(conversation="stream") | Q(Exists(of_held_user))
    old = SentRequestRow.objects.filter(at__lt=before).exclude(held).order_by("at")
    deleted = 0
    while some := list(old.values_list("pk", "stream")[:AT_ONCE]):
        deleted += SentRequestRow.objects.filter(pk__in=[pk for pk, _ in some]).delete()[0]
        delete_unused({stream for _, stream in some})
    return deleted


def delete_unused(streams: Collection[UUID]) -> None:
    """Delete the messages and tools of the given streams that have no stored requests left."""
    used = SentRequestRow.objects.filter(stream__in=streams).values_list("stream", flat=True)
    SentPart.objects.filter(stream__in=set(streams) - set(used)).delete()


def masked_tool(raw: bytes) -> bytes:
    """Return a tool's JSON with credentials masked. Function tools are returned unchanged, because
    they contain no credentials.
    """
    tool = msgspec.json.decode(raw)
    if not isinstance(tool, dict) or "input_schema" in tool or tool.get("type") == "function":
        return raw
    safe = mask_secrets(tool)
    return raw if safe == tool else msgspec.json.encode(safe)


def masked_member(key: str, value: Any) -> Any:
    """Return the value of a request's field with credentials masked."""
    return (
        hide_value(value)
        if isinstance(value, str) and reads_as_credential(key)
        else mask_secrets(value)
    )


def mask_secrets(value: Any, *, in_headers: bool = False) -> Any:
    if isinstance(value, list):
        return [mask_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: hide_value(member)
        if isinstance(member, str) and (in_headers or reads_as_credential(key))
        else mask_secrets(member, in_headers=key == HEADERS)
        for key, member in value.items()
    }


def hide_value(value: str) -> dict[str, str]:
    return {HIDDEN: seal_of(value, settings.SECRET_KEY)}
