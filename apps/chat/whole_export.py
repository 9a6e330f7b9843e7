"""All conversations of a person as one ZIP, made while it is sent: each as it is exported alone.

`conversations/` has one JSON file for each; they can be imported again. `files.json` lists the files
that belong to them, with addresses under which their owner gets them.
"""

import json
import zipfile
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone

from apps.accounts.buckets import of_person
from apps.chat.access import owned_by
from apps.chat.export import document
from apps.chat.file_names import safe_name
from apps.chat.folders import ROOT
from apps.chat.models import Conversation
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import write_path

LONGEST_NAME = 60


class Outbox:
    """What was written and is not sent yet. It cannot be sought in: the ZIP is never whole anywhere."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self.pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """There is nothing to close."""

    def take(self) -> bytes:
        taken = b"".join(self.pieces)
        self.pieces.clear()
        return taken


def file_name(now: datetime) -> str:
    return f"conversations-{now:%Y-%m-%d}.zip"


async def whole_export(user: int) -> AsyncIterator[bytes]:
    """The ZIP of all that a person has, piece by piece; one conversation at a time is in memory."""
    pieces = zipped(user)
    following = database_sync_to_async(next)
    while (piece := await following(pieces, None)) is not None:
        yield piece


def zipped(user: int) -> Iterator[bytes]:
    outbox = Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED) as archive:
        mine = Conversation.objects.lasting().filter(owned_by(user)).select_related("application")
        for pk in list(mine.order_by("created_at").values_list("pk", flat=True)):
            row = mine.filter(pk=pk).first()
            if row is not None:  # else it was deleted meanwhile
                archive.writestr(entry(name_of(row), row.created_at), written(document(row)))
                yield outbox.take()
        archive.writestr(entry("files.json", timezone.now()), written(list(files_of(user))))
    yield outbox.take()


def entry(name: str, at: datetime) -> zipfile.ZipInfo:
    # A ZIP knows no time before 1980.
    moment = max(at.year, 1980), at.month, at.day, at.hour, at.minute, at.second
    found = zipfile.ZipInfo(name, moment)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def name_of(row: Conversation) -> str:
    title = safe_name(row.title[:LONGEST_NAME] or "Conversation")
    return f"conversations/{row.created_at:%Y-%m-%d} {title} {row.pk.hex[:8]}.json"


def written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace")


def files_of(user: int) -> Iterator[dict[str, object]]:
    """The files of conversations, without those of temporary ones."""
    mine = Conversation.objects.lasting().filter(owned_by(user))
    known = set(mine.values_list("pk", flat=True))
    rows = StoredFile.objects.filter(of_person(user), name__startswith=f"{ROOT}/").order_by("name")
    for row in rows.iterator():
        _, conversation, name = row.name.split("/", 2)
        if is_in(conversation, known):
            yield {
                "conversation": conversation,
                "name": name,
                "type": row.content_type,
                "size": row.size,
                "url": f"{settings.PUBLIC_URL}/{write_path(row.bucket, row.name)}",
            }


def is_in(written: str, known: set[UUID]) -> bool:
    try:
        return UUID(written) in known
    except ValueError:
        return False
