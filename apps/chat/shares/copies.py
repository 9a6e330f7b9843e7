"""Copies a shared conversation for a reader who wants to continue it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.accounts.teams import visibility_of
from apps.agent.taint import UNTRUSTED
from apps.catalog.models import Application
from apps.chat.shares.models import Share
from apps.conversations.asking.questions import question_added
from apps.conversations.files.folder import delete_files, folder_of, free_file_name, safe_name
from apps.conversations.forks import ended_run, store_turns
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.endings import answer_stored
from apps.datetimes import read_datetime
from apps.errors import FileMissing
from apps.live.events import StatusChanged, StreamEvent, storable_value
from apps.live.journal.journal import entry_of
from apps.live.models import JournalEntry, Run
from apps.workspace.local.files import files
from apps.workspace.stored_files import FileContent


@dataclass(slots=True)
class CopiedFiles:
    """The copies of shared files in the new conversation."""

    bucket: str
    conversation: UUID
    paths: dict[str, str] = field(default_factory=dict)
    """Maps the URLs of shared files to the URLs of their copies."""
    names: list[str] = field(default_factory=list)

    def copy(self, address: str, found: FileContent, written: str) -> None:
        """Copy a shared file. `address` is its URL in the shared conversation, and `written` is its
        name. Raises `FileRefused` if the copy exceeds the reader's quota.
        """
        name = free_file_name(safe_name(written), self.names)
        kept = files.keep(
            self.bucket,
            folder_of(self.conversation) + name,
            found.content,
            found.info.content_type,
        )
        self.names.append(name)
        self.paths[address] = kept.path

    def rewrite(self, text: str) -> str:
        """Replace the URLs of shared files in the text with the URLs of their copies."""
        # One URL can be a prefix of another, so longer URLs are replaced first.
        for address in sorted(self.paths, key=len, reverse=True):
            text = text.replace(address, self.paths[address])
        return text

    def attached(self, written: Sequence[Mapping[str, Any]], prefix: str) -> list[dict[str, Any]]:
        """Return the attachments with the URLs of the copied files. Shared files, whose URLs begin
        with `prefix`, are omitted if they were not copied.
        """
        kept = []
        for one in written:
            url = str(one.get("url") or "")
            if url.startswith(prefix) and url not in self.paths:
                continue
            kept.append({**one, "url": self.paths[url]} if url in self.paths else dict(one))
        return kept


def begin_copy(caller: Caller, application: Application, share: Share) -> Conversation:
    """Copy a shared conversation to a new conversation that the caller owns. Raises `FileRefused`
    and stores nothing if the files exceed the caller's quota.
    """
    conversation = Conversation(
        id=uuid4(),
        application=application,
        owner=caller.bucket,
        title=share.title,
        team_id=caller.team,
        visibility=visibility_of(caller.team),
    )
    copied = CopiedFiles(caller.bucket, conversation.pk)
    try:
        copy_files(share, copied)
        with transaction.atomic():
            conversation.save(force_insert=True)
            write_turns(caller, conversation, share, copied)
            transaction.on_commit(partial(mirror, conversation.pk))
    except BaseException:
        delete_files(caller.bucket, conversation.pk)
        raise
    return conversation


def copy_files(share: Share, copied: CopiedFiles) -> None:
    """Copy the shared files, except files that were changed or deleted after they were shared."""
    for number, shared in enumerate(share.files, 1):
        with suppress(FileMissing):
            if files.find_stored(share.owner, shared["path"]).etag == shared["etag"]:
                found = files.read(share.owner, shared["path"])
                copied.copy(address_of(share, number, found), found, shared["name"])


def address_of(share: Share, number: int, found: FileContent) -> str:
    """Return the URL of a file in the shared conversation. It consists of the file's number in the
    share and its name, encoded as in the file's path.
    """
    return f"{prefix_of(share)}{number}/{found.info.path.rsplit('/', 1)[-1]}"


def prefix_of(share: Share) -> str:
    return f"{reverse('shared', args=(share.token,)).lstrip('/')}files/"


def write_turns(
    caller: Caller, conversation: Conversation, share: Share, copied: CopiedFiles
) -> None:
    """Store a run, its messages and its events for each shared turn. Rows are inserted in bulk."""
    runs: list[Run] = []
    messages: list[Message] = []
    entries: list[JournalEntry] = []
    for turn in share.turns:
        run = ended_run(caller, conversation)
        said = messages_of(turn, conversation, share, copied)
        for message in said:
            message.run = run
        events = [*map(copy_event, said), StatusChanged(run.status)]
        first = entries[-1].last + 1 if entries else 1
        entries.append(entry_of(conversation.pk, run.pk, first, events))
        runs.append(run)
        messages += said
    store_turns(runs, messages, entries)
    conversation.leaf = conversation.messages.last()
    conversation.save(update_fields=["leaf"])


def messages_of(
    turn: Mapping[str, Any], conversation: Conversation, share: Share, copied: CopiedFiles
) -> list[Message]:
    """Return the question and answer of a shared turn as unsaved messages with their original
    times.
    """
    found = []
    at = timezone.now()
    text = "".join(one["text"] for one in turn["events"] if one["type"] == "message.delta")
    for event in turn["events"]:
        if event["type"] not in ("message.added", "message.complete"):
            continue
        shared = event["message"]
        is_answer = event["type"] == "message.complete"
        at = read_datetime(shared["created_at"]) if shared.get("created_at") else at
        written = shared.get("text", text) if is_answer else shared["text"]
        message = Message(
            conversation=conversation,
            role=Message.Role.ASSISTANT if is_answer else Message.Role.USER,
            text=storable_value(copied.rewrite(written)),
            attachments=copied.attached(shared["attachments"], prefix_of(share)),
            finish_reason=shared.get("finish_reason", "")[:50],
            sender=shared.get("sender"),
            created_at=at,
        )
        if is_answer:
            # Another user shared this content, so it is marked as untrusted.
            message.state = {UNTRUSTED: [f"the shared conversation “{share.title}”"]}
        found.append(message)
    return found


def copy_event(message: Message) -> StreamEvent:
    if message.role == Message.Role.USER:
        return question_added(message)
    return answer_stored(message)
