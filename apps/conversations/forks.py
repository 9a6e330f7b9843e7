"""Copies a conversation up to one of its answers, so that the user can continue the copy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.agent import events as said
from apps.conversations.access import check_continuable, find_conversation, reference_of
from apps.conversations.asking.questions import question_added
from apps.conversations.branches import ASSISTANT, USER, find_message, outline, path
from apps.conversations.keeping.tags import add_known_tags, tags_of
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.endings import answer_stored
from apps.live.doors import PAGE
from apps.live.events import StatusChanged, StreamEvent
from apps.live.journal import journal
from apps.live.limits.quotas import counted_name
from apps.live.models import JournalEntry, Run

AT_ONCE = 500
"""The maximum number of rows that one statement writes."""
TURNS_AT_ONCE = 100
"""The number of turns whose events are read with one query."""
LONGEST_TITLE = 200
COPIED_COLUMNS = (
    "application_id",
    "owner",
    "has_memory",
    "team_id",
    "visibility",
    "pinned_version",
    "reasoning_effort",
    "tool_switches",
    "deployment",
    "folder_id",
    "temporary_until",
)
COPIED_EVENTS = (
    said.TextDelta,
    said.RefusalDelta,
    said.Reasoning,
    said.StageOpened,
    said.StageRenamed,
    said.StageDelta,
    said.StageAttachment,
    said.StageClosed,
    said.AttachmentAdded,
    said.AnnotationAdded,
    said.TurnRestarted,
)
"""The types of events that are copied. Other events refer to their run, or are created from the
copied messages.
"""


def fork(caller: Caller, slug: str, conversation: UUID, message: UUID) -> Conversation:
    """Copy a conversation up to the answer `message`, including its steps, and return the copy.

    The copy refers to the same files, but does not count as usage. Raises `Refused` if the answer
    does not exist or the caller cannot use the application.
    """
    check_continuable(caller, conversation, slug)
    original = find_conversation(caller, conversation, slug)
    last = find_message(outline(original), message, ASSISTANT).pk
    made = Conversation(
        id=uuid4(),
        title=title_of_copy(original.title),
        **{name: getattr(original, name) for name in COPIED_COLUMNS},
    )
    with transaction.atomic():
        made.save(force_insert=True)
        copies = copy_messages(caller, made, path(original, last))
        copy_summaries(original, copies)
        add_known_tags(made, tags_of([original.pk]).get(original.pk, ()))
        made.leaf = copies[last]
        made.save(update_fields=["leaf"])
        transaction.on_commit(partial(mirror, made.pk))
    return made


def title_of_copy(title: str) -> str:
    """Append "(copy)" in the current language to the title, unless the title already ends like
    this.
    """
    note = gettext("{title} (copy)")
    if not title or title.endswith(note.format(title="")):
        return title
    return note.format(title=title[: LONGEST_TITLE - len(note)])


def copy_messages(
    caller: Caller, made: Conversation, messages: Sequence[Message]
) -> dict[int, Message]:
    """Copy the messages with their events to `made`. Return the copies by the primary keys of the
    originals.
    """
    copies: dict[int, Message] = {}
    runs: list[Run] = []
    entries: list[JournalEntry] = []
    first = 1
    turns = [*turns_of(messages)]
    for start in range(0, len(turns), TURNS_AT_ONCE):
        some = turns[start : start + TURNS_AT_ONCE]
        steps = journal.read_runs({row.run_id for turn in some for row in turn if row.run_id})
        for turn in some:
            run = ended_run(caller, made)
            events = copy_turn(turn, made, run, steps, copies)
            entries.append(journal.entry_of(made.pk, run.pk, first, events))
            first = entries[-1].last + 1
            runs.append(run)
    store_turns(runs, copies.values(), entries)
    return copies


def store_turns(
    runs: Iterable[Run], messages: Iterable[Message], entries: Iterable[JournalEntry]
) -> None:
    """Store copied or imported turns. Messages without a parent follow the message stored before
    them.
    """
    Run.objects.bulk_create(runs, batch_size=AT_ONCE)
    Message.objects.bulk_create(messages, batch_size=AT_ONCE)
    JournalEntry.objects.bulk_create(entries, batch_size=AT_ONCE)


def turns_of(rows: Sequence[Message]) -> Iterator[list[Message]]:
    """Yield each question with its answers."""
    turn: list[Message] = []
    for row in rows:
        if row.role == USER and turn:
            yield turn
            turn = []
        turn.append(row)
    if turn:
        yield turn


def copy_turn(
    turn: Sequence[Message],
    made: Conversation,
    run: Run,
    steps: Mapping[UUID, Sequence[StreamEvent]],
    copies: dict[int, Message],
) -> Iterator[StreamEvent]:
    """Add copies of a turn's messages to `copies`, and yield the events of its copied run. `steps`
    maps the IDs of the original runs to their events.
    """
    for row in turn:
        copy = Message(
            conversation=made,
            run=run,
            role=row.role,
            text=row.text,
            attachments=row.attachments,
            state=row.state,
            place=row.place,
            sender=row.sender,
            finish_reason=row.finish_reason,
            created_at=row.created_at,
        )
        copies[row.pk] = copy
        if copy.role == USER:
            yield question_added(copy)
            continue
        if row.run_id is not None:
            yield from (one for one in steps.get(row.run_id, ()) if isinstance(one, COPIED_EVENTS))
        yield answer_stored(copy)
    yield StatusChanged(run.status)


def copy_summaries(original: Conversation, copies: dict[int, Message]) -> None:
    """Copy the summaries of the copied messages, so that they need not be generated again."""
    rows = original.messages.filter(role=Message.Role.SUMMARY).order_by("pk")
    for row in rows:
        if row.parent_id in copies:
            last = copies[row.parent_id]
            last.conversation.messages.create(role=row.role, text=row.text, parent=last)


def ended_run(caller: Caller, conversation: Conversation) -> Run:
    """Return an unsaved, completed run for the caller, without usage."""
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
