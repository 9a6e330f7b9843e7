"""Mirrors each conversation to a JSON file, in a layout that other platforms also use.

The path is `_platform/ai-conversations/{bucket}/{id}.json` below `CONVERSATION_MIRROR`. Pages never
read these files; only `restore_conversations` does.
"""

import logging
import os
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.catalog.models import Application
from apps.conversations.models import Conversation, Message
from apps.live.models import Run

logger = logging.getLogger(__name__)

FOLDER = Path("_platform", "ai-conversations")


class MirroredMessage(msgspec.Struct):
    """A `Message` row in a mirrored file."""

    id: UUID
    role: Literal["user", "assistant", "summary"]
    text: str
    attachments: list[Any]
    state: dict[str, Any]
    usage: dict[str, Any]
    place: dict[str, Any] | None
    finish_reason: Annotated[str, msgspec.Meta(max_length=50)]
    created_at: datetime
    run: UUID | None = None
    parent: UUID | None = None
    """The previous message. A first message on another branch is its own parent."""


class MirroredConversation(msgspec.Struct):
    """A `Conversation` row in a mirrored file, with its messages in order."""

    id: UUID
    scope: Annotated[str, msgspec.Meta(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
    participants: list[str]
    application: str
    application_id: int | None
    application_title: str
    title: Annotated[str, msgspec.Meta(max_length=200)]
    created_at: datetime
    updated_at: datetime
    is_unread: bool
    has_memory: bool
    messages: list[MirroredMessage]
    leaf: UUID | None = None
    """The last message on the shown branch."""


class NotRestored(Exception):
    """Raised if a mirrored file cannot be restored. The message contains the reason."""


def mirror(conversation: UUID) -> None:
    """Write the conversation's file, or delete it if the conversation was deleted. Errors are only
    logged.
    """
    if not settings.CONVERSATION_MIRROR:
        return
    try:
        with transaction.atomic():
            rows = Conversation.objects.lasting().select_related("application")
            row = rows.filter(pk=conversation).first()
            document = None if row is None else document_of(row)
        if document is None:
            remove(conversation)
        else:
            write(document)
    except Exception:
        logger.exception("Could not mirror conversation %s", conversation)


async def mirror_aside(conversation: UUID) -> None:
    """Call `mirror` in a separate thread. In the thread that commits the runs' journals, a slow
    write would delay all runs.
    """
    if settings.CONVERSATION_MIRROR:
        await database_sync_to_async(mirror)(conversation)


def document_of(row: Conversation) -> MirroredConversation:
    application = row.application
    number, slug, title = row.former_application, row.former_slug, row.former_title
    if application is not None:
        number, slug, title = application.pk, application.slug, application.title
    uuids: dict[int, UUID] = {}
    messages = []
    for message in row.messages.all():
        uuids[message.pk] = message.uuid
        messages.append(mirror_message(message, uuids))
    return MirroredConversation(
        row.pk,
        row.owner,
        [row.owner, f"application:{slug}"],
        slug,
        number,
        title,
        row.title,
        row.created_at,
        row.updated_at,
        row.is_unread,
        row.has_memory,
        messages,
        None if row.leaf_id is None else uuids.get(row.leaf_id),
    )


def mirror_message(message: Message, uuids: dict[int, UUID]) -> MirroredMessage:
    return MirroredMessage(
        message.uuid,
        message.role,  # type: ignore[arg-type]
        message.text,
        message.attachments,
        message.state,
        message.usage,
        message.place,
        message.finish_reason,
        message.created_at,
        message.run_id,
        None if message.parent_id is None else uuids.get(message.parent_id),
    )


def root() -> Path:
    return Path(settings.CONVERSATION_MIRROR) / FOLDER


def write(document: MirroredConversation) -> None:
    """Replace the conversation's file atomically. Other operating system accounts cannot read
    it.
    """
    folder = root() / document.scope
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    remove(document.id, but=document.scope)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(document))
        Path(name).replace(folder / f"{document.id}.json")
    except BaseException:
        Path(name).unlink()
        raise


def remove(conversation: UUID, but: str = "") -> None:
    """Delete the conversation's mirrored files, except in the folder `but`. A conversation's folder
    changes when its visitor signs in.
    """
    for path in root().glob(f"*/{conversation}.json"):
        if path.parent.name != but:
            path.unlink(missing_ok=True)


def files(folder: Path) -> Iterator[Path]:
    """Yield the paths of all conversation files in a mirror."""
    return iter(sorted((folder / FOLDER).glob("*/*.json")))


def read_mirrored(path: Path) -> MirroredConversation:
    """Parse a mirrored file. Raises `NotRestored` if it is unreadable, invalid or at the wrong
    path.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=MirroredConversation)
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise NotRestored(str(error)) from error
    if (document.scope, str(document.id)) != (path.parent.name, path.stem):
        raise NotRestored(
            f"the file contains the conversation {document.id} of {document.scope}; rename it to match"
        )
    return document


@transaction.atomic
def restore_conversation(document: MirroredConversation) -> bool:
    """Store the rows of a mirrored conversation. Return False if the conversation already exists.
    Raises `NotRestored` if one of its messages already exists, or precedes its parent.
    """
    if Conversation.objects.filter(pk=document.id).exists():
        return False
    taken = [message.id for message in document.messages]
    if len(set(taken)) < len(taken) or Message.objects.filter(uuid__in=taken).exists():
        raise NotRestored("one of its messages already exists")
    application = Application.objects.filter(slug=document.application).first()
    row = Conversation.objects.create(
        id=document.id,
        application=application,
        former_application=None if application else document.application_id,
        former_slug="" if application else document.application,
        former_title="" if application else document.application_title,
        owner=document.scope,
        title=document.title,
        is_unread=document.is_unread,
        has_memory=document.has_memory,
        created_at=document.created_at,
        updated_at=document.updated_at,
    )
    known = set(Run.objects.filter(stream=row.pk).values_list("pk", flat=True))
    rows: dict[UUID, Message] = {}
    for one in document.messages:
        before = None if one.parent == one.id else one.parent
        if before is not None and before not in rows:
            raise NotRestored(
                f"messages: the parent of {one.id}, {one.parent}, does not come before it"
            )
        rows[one.id] = Message.objects.create(
            uuid=one.id,
            conversation=row,
            run_id=one.run if one.run in known else None,
            parent=None if before is None else rows[before],
            **{name: getattr(one, name) for name in COPIED},
        )
    roots = [one.id for one in document.messages if one.parent == one.id]
    Message.objects.filter(uuid__in=roots).update(parent=F("pk"))
    if document.leaf in rows:
        Conversation.objects.filter(pk=row.pk).update(leaf=rows[document.leaf])
    return True


COPIED = (
    "role",
    "text",
    "attachments",
    "state",
    "usage",
    "place",
    "finish_reason",
    "created_at",
)
