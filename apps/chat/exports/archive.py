"""Streams all of a user's data as a ZIP file.

`conversations/` has one JSON file per conversation. These files can be imported again. `files.json`
lists the files in conversations with their URLs. `account.json` has the user's other data.
"""

import json
import zipfile
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from apps.accounts.caller import of_person
from apps.chat.exports.account import account_data
from apps.chat.exports.conversation import document
from apps.conversations.access import owned_by
from apps.conversations.files.folder import ROOT, safe_name
from apps.conversations.models import Conversation
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.models import StoredFile

LONGEST_NAME = 60


class ZipBuffer:
    """A writable, unseekable file that buffers a ZIP's bytes only until they are sent, so that the
    whole ZIP is never in memory.
    """

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def write(self, chunk: bytes) -> int:
        self.chunks.append(bytes(chunk))
        return len(chunk)

    def flush(self) -> None:
        """Do nothing. `ZipFile` requires this method."""

    def close(self) -> None:
        """Do nothing. `ZipFile` requires this method."""

    def pop(self) -> bytes:
        content = b"".join(self.chunks)
        self.chunks.clear()
        return content


def archive_name(now: datetime) -> str:
    return f"conversations-{now:%Y-%m-%d}.zip"


async def whole_export(user: int) -> AsyncIterator[bytes]:
    """Yield the bytes of a ZIP file with all of a user's data. Only one conversation is in memory
    at a time.
    """
    chunks = zip_chunks(user)
    following = database_sync_to_async(next)
    while (chunk := await following(chunks, None)) is not None:
        yield chunk


def zip_chunks(user: int) -> Iterator[bytes]:
    outbox = ZipBuffer()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED) as archive:
        mine = Conversation.objects.lasting().filter(owned_by(user)).select_related("application")
        for pk in list(mine.order_by("created_at").values_list("pk", flat=True)):
            row = mine.filter(pk=pk).first()
            if row is not None:  # Otherwise the conversation was deleted in the meantime.
                archive.writestr(entry(name_of(row), row.created_at), write_json(document(row)))
                yield outbox.pop()
        archive.writestr(entry("files.json", timezone.now()), write_json(list(files_of(user))))
        archive.writestr(entry("account.json", timezone.now()), write_json(account_data(user)))
    yield outbox.pop()


def entry(name: str, at: datetime) -> zipfile.ZipInfo:
    # A ZIP cannot store times before 1980.
    moment = max(at.year, 1980), at.month, at.day, at.hour, at.minute, at.second
    found = zipfile.ZipInfo(name, moment)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def name_of(row: Conversation) -> str:
    title = safe_name(row.title[:LONGEST_NAME] or "Conversation")
    return f"conversations/{row.created_at:%Y-%m-%d} {title} {row.pk.hex[:8]}.json"


def write_json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2, cls=DjangoJSONEncoder)
    return text.encode("utf-8", "replace")


def files_of(user: int) -> Iterator[dict[str, object]]:
    """Yield the name, type, size and URL of each file in the user's conversations, except temporary
    conversations.
    """
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


def is_in(written: str, conversations: set[UUID]) -> bool:
    try:
        return UUID(written) in conversations
    except ValueError:
        return False
