"""A reader goes on from a shared conversation: what was shared becomes one of their own."""

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
from apps.chat.access import reference_of
from apps.chat.endings import answer_stored
from apps.chat.file_names import free_name, safe_name
from apps.chat.folders import delete_folder, folder_of
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, Message
from apps.chat.questions import PAGE, question_added
from apps.chat.shares.models import Share
from apps.datetimes import read_datetime
from apps.errors import FileMissing
from apps.live.events import StatusChanged, StreamEvent, storable
from apps.live.journal import entry_of
from apps.live.models import JournalEntry, Run
from apps.live.rates import counted_name
from apps.workspace.local import files
from apps.workspace.stored_files import FileContent

AT_ONCE = 500
"""Rows of one statement."""


@dataclass(slots=True)
class CopiedFiles:
    """The files of a share in the folder of the new conversation, by their addresses under the link."""

    bucket: str
    conversation: UUID
    paths: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def copy(self, address: str, found: FileContent, written: str) -> None:
        """Raises `FileRefused` where the reader has no room for it."""
        name = free_name(safe_name(written), self.names)
        kept = files.keep(
            self.bucket,
            folder_of(self.conversation) + name,
            found.content,
            found.info.content_type,
        )
        self.names.append(name)
        self.paths[address] = kept.path

    def rewrite(self, text: str) -> str:
        """The text with the addresses of the copies."""
        # The longest first: an address may be the beginning of another one.
        for address in sorted(self.paths, key=len, reverse=True):
            text = text.replace(address, self.paths[address])
        return text

    def attached(self, written: Sequence[Mapping[str, Any]], prefix: str) -> list[dict[str, Any]]:
        """Attachments that refer to the copies, without files that were not copied."""
        kept = []
        for one in written:
            url = str(one.get("url") or "")
            if url.startswith(prefix) and url not in self.paths:
                continue
            kept.append({**one, "url": self.paths[url]} if url in self.paths else dict(one))
        return kept


def begin_copy(caller: Caller, application: Application, share: Share) -> Conversation:
    """A conversation of the reader with what was shared, without its steps.

    Raises `FileRefused` where the reader has no room for its files; nothing is kept then.
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
        delete_folder(caller.bucket, conversation.pk)
        raise
    return conversation


def copy_files(share: Share, copied: CopiedFiles) -> None:
    """Those that are still as they were shared."""
    for number, shared in enumerate(share.files, 1):
        with suppress(FileMissing):
            if files.find(share.owner, shared["path"]).etag == shared["etag"]:
                found = files.read(share.owner, shared["path"])
                copied.copy(address_of(share, number, found), found, shared["name"])


def address_of(share: Share, number: int, found: FileContent) -> str:
    """As the snapshot has it; the name in it is that of the path, with the same quoting."""
    return f"{prefix_of(share)}{number}/{found.info.path.rsplit('/', 1)[-1]}"


def prefix_of(share: Share) -> str:
    return f"{reverse('shared', args=(share.token,)).lstrip('/')}files/"


def write_turns(
    caller: Caller, conversation: Conversation, share: Share, copied: CopiedFiles
) -> None:
    """As runs would have stored them, and in a few statements."""
    runs: list[Run] = []
    messages: list[Message] = []
    entries: list[JournalEntry] = []
    for turn in share.turns:
        run = ended_run(caller, conversation)
        said = messages_of(turn, conversation, share, copied)
        for message in said:
            message.run = run
        events = [*map(told, said), StatusChanged(run.status)]
        first = entries[-1].last + 1 if entries else 1
        entries.append(entry_of(conversation.pk, run.pk, first, events))
        runs.append(run)
        messages += said
    Run.objects.bulk_create(runs, batch_size=AT_ONCE)
    # Without parents: each follows the one that was stored before.
    Message.objects.bulk_create(messages, batch_size=AT_ONCE)
    JournalEntry.objects.bulk_create(entries, batch_size=AT_ONCE)
    conversation.leaf = conversation.messages.last()
    conversation.save(update_fields=["leaf"])


def ended_run(caller: Caller, conversation: Conversation) -> Run:
    """A run of the reader that asks no model."""
    application = conversation.application
    return Run(
        stream=conversation.pk,
        request=uuid4(),
        application="" if application is None else application.slug,
        application_pk=conversation.application_id,
        bucket=caller.bucket,
        counted_as=counted_name(caller),
        caller=reference_of(caller),
        door=PAGE,
        status=Run.Status.DONE,
        finished_at=timezone.now(),
    )


def messages_of(
    turn: Mapping[str, Any], conversation: Conversation, share: Share, copied: CopiedFiles
) -> list[Message]:
    """The question and the answer of a shared turn, with the times that they had."""
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
            text=storable(copied.rewrite(written)),
            attachments=copied.attached(shared["attachments"], prefix_of(share)),
            finish_reason=shared.get("finish_reason", "")[:50],
            sender=shared.get("sender"),
            created_at=at,
        )
        if is_answer:
            # Others decided what stands in it.
            message.state = {UNTRUSTED: [f"the shared conversation “{share.title}”"]}
        found.append(message)
    return found


def told(message: Message) -> StreamEvent:
    if message.role == Message.Role.USER:
        return question_added(message)
    return answer_stored(message)
