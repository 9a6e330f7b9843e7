"""Stores imported conversations, with a run and its events for each answer.

The page reads runs from their events, so it can show, branch, export and continue imported
conversations. They do not count as usage.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.chat.imports.attached_files import ImportedFiles, bring_files
from apps.chat.imports.exported_values import split_left_out
from apps.chat.imports.files import conversations_in
from apps.chat.imports.tree import (
    LONGEST_TITLE,
    ImportedMessage,
    MessageTree,
    SourceConversation,
    UnreadableConversation,
    tree_of,
)
from apps.conversations.access import reference_of
from apps.conversations.asking.questions import question_added
from apps.conversations.files.folder import delete_files
from apps.conversations.forks import AT_ONCE, store_turns
from apps.conversations.keeping.tags import add_known_tags
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message, question_title
from apps.conversations.outcome.endings import answer_stored
from apps.conversations.spoken import LEFT_OUT
from apps.live.events import StatusChanged, storable_value
from apps.live.journal import journal
from apps.live.models import JournalEntry, Run

DOOR = "import"
SOURCES = {
    "chatgpt": "ChatGPT",
    "open-webui": "Open WebUI",
    "librechat": "LibreChat",
    "quickapps": gettext_lazy("a QuickApps export"),
}
MOST_LISTED = 50
"""The maximum number of failed conversations that a report lists."""


@dataclass(slots=True)
class ConversationImportReport:
    is_trial: bool = False
    sources: dict[str, int] = field(default_factory=dict)
    messages: int = 0
    files: int = 0
    duplicates: int = 0
    """The number of conversations in the file that had already been imported."""
    unreadable: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """The titles of up to `MOST_LISTED` failed conversations, with the reasons."""

    @property
    def conversations(self) -> int:
        return sum(self.sources.values())

    @property
    def more_skipped(self) -> int:
        return self.unreadable - len(self.skipped)

    def add(self, source: str, tree: MessageTree) -> None:
        name = str(SOURCES[source])
        self.sources[name] = self.sources.get(name, 0) + 1
        self.messages += len(tree.messages)
        self.files += sum(len(message.attachments) for message in tree.messages)

    def skip(self, title: str, reason: str) -> None:
        self.unreadable += 1
        if len(self.skipped) < MOST_LISTED:
            self.skipped.append((title, reason))


def import_file(
    caller: Caller, application: Application, file: IO[bytes], *, is_trial: bool = False
) -> ConversationImportReport:
    """Import all conversations in a file into an application.

    Each conversation is stored completely or not at all. With `is_trial`, nothing is stored. Raises
    `UnreadableConversation` and stores nothing if any part of the file cannot be read.
    """
    report = ConversationImportReport(is_trial)
    seen: set[tuple[str, str]] = set()
    conversations = list(conversations_in(file))
    attached = ImportedFiles(file)
    for found in conversations:
        if isinstance(found, UnreadableConversation):
            report.skip("", str(found))
            continue
        title = title_in(found)
        try:
            tree = tree_of(found)
        except UnreadableConversation as error:
            report.skip(title, str(error))
            continue
        key = (found.source, identity_of(found, tree))
        if key in seen or is_imported(caller, key):
            report.duplicates += 1
        elif is_trial or write(caller, application, found, tree, key, attached):
            report.add(found.source, tree)
        else:
            report.duplicates += 1
        seen.add(key)
    return report


def title_in(conversation: SourceConversation) -> str:
    text = " ".join(str(storable_value(conversation.title)).replace("\0", "").split())
    return text[:LONGEST_TITLE]


def identity_of(conversation: SourceConversation, tree: MessageTree) -> str:
    """Return the conversation's ID in the file. If it has none, return a hash of its title and
    texts.
    """
    if conversation.id:
        return str(storable_value(conversation.id))
    digest = hashlib.sha256(conversation.title.encode("utf-8", "replace"))
    for message in tree.messages:
        digest.update(message.text.encode("utf-8", "replace"))
    return f"sha256:{digest.hexdigest()}"


def is_imported(caller: Caller, key: tuple[str, str]) -> bool:
    """Return True if the caller has already imported the conversation and has not permanently
    deleted it. `key` is the source product and the conversation's ID in the file.
    """
    source, identity = key
    mine = Conversation.objects.filter(owner=caller.bucket)
    if source == "quickapps":
        with suppress(ValueError):
            if mine.filter(pk=UUID(identity)).exists():
                return True
    return mine.filter(imported_from=source, imported_id=identity).exists()


def write(
    caller: Caller,
    application: Application,
    conversation: SourceConversation,
    tree: MessageTree,
    key: tuple[str, str],
    attached: ImportedFiles,
) -> bool:
    """Store an imported conversation. Return False if a concurrent import has already stored it."""
    now, conversation_id = timezone.now(), uuid4()
    times = list(times_of(tree.messages, conversation.created_at or now))
    source, identity = key
    try:
        bring_files(caller, conversation_id, tree.messages, attached)
        for message in tree.messages:
            message.text, message.left_out = split_left_out(message.text)
        row = Conversation(
            id=conversation_id,
            application=application,
            owner=caller.bucket,
            title=title_in(conversation) or question_title(tree.messages[0].text or name_of(tree)),
            imported_from=source,
            imported_id=identity,
            created_at=conversation.created_at or times[0],
            updated_at=max(times),
            archived_at=now if conversation.is_archived else None,
            pinned_at=now if conversation.is_pinned and not conversation.is_archived else None,
            arranged_at=now,
        )
        with transaction.atomic():
            row.save(force_insert=True)
            write_messages(caller, application, row, tree, times)
            add_known_tags(row, map(str, map(storable_value, conversation.tags)))
            transaction.on_commit(lambda: mirror(row.pk))
    except BaseException as error:
        delete_files(caller.bucket, conversation_id)
        if isinstance(error, IntegrityError) and is_imported(caller, key):
            return False
        raise
    return True


def name_of(tree: MessageTree) -> str:
    """Return the name of the first file in the conversation's first message, or "" if there is
    none. It becomes the conversation's title if that message has no text.
    """
    first = tree.messages[0]
    return next(iter((*(file["title"] for file in first.attachments), *first.left_out)), "")


def times_of(messages: Sequence[ImportedMessage], first: datetime) -> Iterator[datetime]:
    """Yield each message's time. A message without a time gets its parent's time, or `first` if it
    has no parent.
    """
    known: list[datetime] = []
    for message in messages:
        before = first if message.parent is None else known[message.parent]
        known.append(message.at or before)
        yield known[-1]


def write_messages(
    caller: Caller,
    application: Application,
    row: Conversation,
    tree: MessageTree,
    times: Sequence[datetime],
) -> None:
    rows = [message_row(row, message, at) for message, at in zip(tree.messages, times, strict=True)]
    runs: list[Run] = []
    entries: list[JournalEntry] = []
    first = 1
    for message, answer in zip(tree.messages, rows, strict=True):
        if message.role != "assistant" or message.parent is None:
            continue
        question = rows[message.parent]
        run = run_row(caller, application, row, question, answer)
        answer.run = question.run = run
        # The page would have received these events while the answer was being written.
        events = (question_added(question), answer_stored(answer), StatusChanged(run.status))
        entries.append(journal.entry_of(row.pk, run.pk, first, events))
        first = entries[-1].last + 1
        runs.append(run)
    store_turns(runs, rows, entries)
    for message, stored in zip(tree.messages, rows, strict=True):
        stored.parent = stored if message.parent is None else rows[message.parent]
    Message.objects.bulk_update(rows, ["parent"], batch_size=AT_ONCE)
    Conversation.objects.filter(pk=row.pk).update(
        leaf=None if tree.leaf is None else rows[tree.leaf]
    )


def message_row(row: Conversation, message: ImportedMessage, at: datetime) -> Message:
    finish = "" if message.role == "user" else "stopped" if message.is_missing else "stop"
    return Message(
        conversation=row,
        role=message.role,
        text=storable_value(message.text),
        attachments=message.attachments,
        state={LEFT_OUT: storable_value(message.left_out)} if message.left_out else {},
        usage={"models": [storable_value(message.model)]} if message.model else {},
        sender=storable_value(message.sender),
        finish_reason=finish,
        created_at=at,
    )


def run_row(
    caller: Caller, application: Application, row: Conversation, question: Message, answer: Message
) -> Run:
    return Run(
        stream=row.pk,
        request=uuid4(),
        application=application.slug,
        application_pk=application.pk,
        bucket=caller.bucket,
        caller=reference_of(caller),
        door=DOOR,
        status=Run.Status.STOPPED if answer.finish_reason == "stopped" else Run.Status.DONE,
        started_at=question.created_at,
        turn_at=question.created_at,
        beat_at=answer.created_at,
        finished_at=answer.created_at,
    )
