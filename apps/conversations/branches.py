"""Reads a conversation's messages as a tree, and finds its branches and the shown branch."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import CharField, F
from django.db.models.functions import Cast
from django.utils.translation import gettext

from apps.conversations.models import Conversation, Message
from apps.errors import Refused
from apps.live.events import BranchesChanged, NumberedEvent, StreamEvent

USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT
AT_ONCE = 500
"""The maximum number of rows that one statement writes."""


class OutlineRow(NamedTuple):
    """A message without its content. It is loaded four times faster than a model instance. IDs are
    strings of hexadecimal digits, because creating thousands of UUIDs is slow.
    """

    pk: int
    parent_id: int | None
    run_id: str | None
    role: str
    uuid: str
    finish_reason: str


class Digits(Cast):
    """A database expression for a UUID as hexadecimal digits without hyphens. On PostgreSQL, the
    result of a plain cast would contain hyphens.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field, CharField())

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "REPLACE((%(expressions)s)::%(db_type)s, '-', '')"
        return self.as_sql(compiler, connection, template=template, **context)


OUTLINE = {"run_id": Digits("run_id"), "uuid": Digits("uuid")}
"""The columns of an `OutlineRow` that the database converts to hexadecimal digits."""


MessageRow = Message | OutlineRow
Row = TypeVar("Row", Message, OutlineRow)


@dataclass(frozen=True, slots=True)
class Tree(Generic[Row]):
    """The questions and answers of a conversation as a tree, in the order in which they were
    stored. Messages are stored after their parents, so each branch is sorted by primary key.
    """

    messages: Sequence[Row]
    parents: dict[int, int | None]
    followers: dict[int | None, list[Row]]
    """The children of each message, by its primary key. The key None maps to the messages without a
    parent.
    """

    @classmethod
    def of(cls, messages: Iterable[Row]) -> "Tree[Row]":
        rows = sorted(messages, key=lambda row: row.pk)
        parents: dict[int, int | None] = {}
        before: int | None = None
        for row in rows:
            written = row.parent_id
            if written == row.pk:
                parents[row.pk] = None
            else:
                parents[row.pk] = written if written in parents else before
            before = row.pk
        followers: dict[int | None, list[Row]] = defaultdict(list)
        for row in rows:
            followers[parents[row.pk]].append(row)
        return cls(rows, parents, dict(followers))

    def end(self, leaf: int | None) -> int | None:
        """Return the primary key of the last message on the branch to `leaf`: `leaf` itself or, if
        it is an answered question, its answer. If the tree does not contain `leaf`, return the
        newest message's key, or None if there are no messages.
        """
        if leaf not in self.parents:
            return self.messages[-1].pk if self.messages else None
        return self.answered(leaf)

    def answered(self, leaf: int | None) -> int | None:
        """Return the primary key of the newest run's answer to the question `leaf`. Return `leaf`
        if there is none, or if the message is not a question.
        """
        asked = next((row for row in self.messages if row.pk == leaf and row.role == USER), None)
        if asked is None or asked.run_id is None:
            return leaf
        own = (row.pk for row in self.children(leaf) if row.run_id == asked.run_id)
        return max(own, default=leaf)

    def up(self, leaf: int | None) -> list[Row]:
        """Return the messages from the first one to `leaf`."""
        wanted = set()
        while leaf is not None:
            wanted.add(leaf)
            leaf = self.parents.get(leaf)
        return [row for row in self.messages if row.pk in wanted]

    def below(self, top: int) -> list[Row]:
        """Return the message `top` and all messages that follow it, on all branches."""
        found = {top}
        for row in self.messages:
            if self.parents[row.pk] in found:
                found.add(row.pk)
        return [row for row in self.messages if row.pk in found]

    def children(self, of: int | None) -> list[Row]:
        return self.followers.get(of, [])

    def siblings(self, row: Row) -> list[Row]:
        """Return the alternatives to a message, including the message itself."""
        return self.children(self.parents[row.pk])

    def shown(self, leaf: int | None) -> list[Row]:
        """Return the messages from the first one to `leaf` or, if `leaf` is an answered question,
        to its answer.
        """
        return self.up(self.end(leaf))


def tree(conversation: Conversation) -> Tree[Message]:
    return Tree.of(conversation.messages.without_summaries())


def outline(conversation: Conversation) -> Tree[OutlineRow]:
    """Return the conversation's message tree without the messages' content."""
    fields = (OUTLINE.get(name, F(name)) for name in OutlineRow._fields)
    rows = conversation.messages.without_summaries().values_list(*fields)
    return Tree.of(map(OutlineRow._make, rows))


def path(conversation: Conversation, leaf: int | None = None) -> list[Message]:
    """Return the messages on the shown branch or, with `leaf`, the messages up to the one with this
    primary key.
    """
    found = tree(conversation)
    return found.shown(conversation.leaf_id) if leaf is None else found.up(leaf)


def end_of_path(conversation: Conversation) -> int | None:
    """Return the primary key of the last message on the shown branch, or None if there are no
    messages. Usually, this takes one query.
    """
    leaf, said = conversation.leaf_id, conversation.messages.without_summaries().order_by()
    if leaf is None or not said.filter(pk=leaf).exists():
        return outline(conversation).end(leaf)
    return leaf


def shown_path(conversation: Conversation) -> list[OutlineRow]:
    """Return the messages on the shown branch, without their content."""
    return outline(conversation).shown(conversation.leaf_id)


def shown_runs(conversation: Conversation) -> list[str]:
    """Return the IDs of the runs on the shown branch, in order and as hexadecimal digits. An active
    run is the last one.
    """
    return list(runs_of(shown_path(conversation)))


@dataclass(frozen=True, slots=True)
class ShownEvents:
    """Selects the events on the shown branch, and all events with a number above `last`."""

    last: int
    runs: frozenset[str]
    """The IDs of the branch's runs, as hexadecimal digits."""

    def select(self, said: Iterable[NumberedEvent]) -> list[NumberedEvent]:
        return [one for one in said if self.has(*one)]

    def has(self, number: int, run: UUID, event: StreamEvent) -> bool:
        return number > self.last or run.hex in self.runs or isinstance(event, BranchesChanged)


def runs_of(messages: Sequence[OutlineRow]) -> Iterator[str]:
    """Yield the IDs of the runs that wrote the answers. If the last message is a question, also
    yield the ID of the run that will answer it.
    """
    for row, after in zip_longest(messages, messages[1:]):
        is_answered = after is not None and after.role == ASSISTANT
        if row.run_id is not None and (row.role == ASSISTANT or not is_answered):
            yield row.run_id


def shown_branches(
    found: Tree[OutlineRow], shown: Sequence[OutlineRow], active: UUID | None
) -> dict[str, dict[str, Any]]:
    """Return the alternatives to each message on the shown branch: their IDs, and the index of the
    shown message.

    The keys are the IDs of questions and, for answers, of their runs. The run `active` has no
    answer yet, so the ID of its answer is "".
    """
    told: dict[str, dict[str, Any]] = {}
    for row in shown:
        if len(siblings := found.siblings(row)) == 1:
            continue  # Most conversations have no branches.
        beside = [one for one in siblings if one.role == row.role]
        key = row.uuid if row.role == USER else row.run_id
        if len(beside) > 1 and key is not None:
            ids = [format_id(one.uuid) for one in beside]
            told[format_id(key)] = {"ids": ids, "at": beside.index(row)}
    if active is not None and shown and shown[-1].role == USER:
        earlier = [format_id(one.uuid) for one in found.children(shown[-1].pk)]
        if earlier:
            told[str(active)] = {"ids": [*earlier, ""], "at": len(earlier)}
    return told


def format_id(digits: str) -> str:
    """Convert an ID from hexadecimal digits to the form with hyphens that the page uses."""
    return str(UUID(digits))


def write_parents(found: Tree[OutlineRow]) -> None:
    """Store the parent of each message whose parent is not in the database, as in copied
    conversations. Without a stored parent, a message follows the message before it, so a new branch
    would change its parent.
    """
    unwritten = [
        Message(pk=row.pk, parent_id=found.parents[row.pk])
        for row in found.messages
        if row.parent_id is None and found.parents[row.pk]
    ]
    Message.objects.bulk_update(unwritten, ["parent"], batch_size=AT_ONCE)


def find_message(found: Tree[OutlineRow], uuid: UUID, role: str = "") -> OutlineRow:
    """Return the message with this ID. Raises `Refused` if it does not exist or has another
    role.
    """
    for row in found.messages:
        if row.uuid == uuid.hex and role in ("", row.role):
            return row
    raise Refused("no_message", gettext("This message no longer exists. Reload the page."))
