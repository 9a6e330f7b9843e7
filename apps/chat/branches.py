"""The tree of a conversation's messages: which path of it is shown, and what stands beside the path."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import CharField, F
from django.db.models.functions import Cast
from django.utils.translation import gettext

from apps.chat.models import Conversation, Message
from apps.errors import Refused
from apps.live.events import BranchesChanged, NumberedEvent, StreamEvent

USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT
AT_ONCE = 500
"""Rows of one statement."""


class OutlineRow(NamedTuple):
    """A message without what was said; a model takes four times as long to read.

    Its ids are their hexadecimal digits: to make UUIDs of thousands takes longer than all the rest.
    """

    pk: int
    parent_id: int | None
    run_id: str | None
    role: str
    uuid: str
    finish_reason: str


class Digits(Cast):
    """The hexadecimal digits of an id, which SQLite stores; PostgreSQL writes dashes between them."""

    def __init__(self, field: str) -> None:
        super().__init__(field, CharField())

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "REPLACE((%(expressions)s)::%(db_type)s, '-', '')"
        return self.as_sql(compiler, connection, template=template, **context)


OUTLINE = {"run_id": Digits("run_id"), "uuid": Digits("uuid")}
"""What is read of a row otherwise than it is stored."""


MessageRow = Message | OutlineRow
Row = TypeVar("Row", Message, OutlineRow)


@dataclass(frozen=True, slots=True)
class Tree(Generic[Row]):
    """Questions and answers in the order in which they were stored, and the message before each.

    A message is stored after the one before it, so a path is in the order of the primary keys too.
    """

    messages: Sequence[Row]
    parents: dict[int, int | None]
    followers: dict[int | None, list[Row]]
    """By the message before, None for what begins the conversation."""

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
        """The last message of the path that is shown."""
        if leaf not in self.parents:
            return self.messages[-1].pk if self.messages else None
        return self.answered(leaf)

    def answered(self, leaf: int | None) -> int | None:
        """The answer to the question `leaf`, if it was stored after `leaf` had been read."""
        asked = next((row for row in self.messages if row.pk == leaf and row.role == USER), None)
        if asked is None or asked.run_id is None:
            return leaf
        own = (row.pk for row in self.children(leaf) if row.run_id == asked.run_id)
        return max(own, default=leaf)

    def up(self, leaf: int | None) -> list[Row]:
        """The messages from the first one to `leaf`."""
        wanted = set()
        while leaf is not None:
            wanted.add(leaf)
            leaf = self.parents.get(leaf)
        return [row for row in self.messages if row.pk in wanted]

    def below(self, top: int) -> list[Row]:
        """The message and all that follow it, on any branch."""
        found = {top}
        for row in self.messages:
            if self.parents[row.pk] in found:
                found.add(row.pk)
        return [row for row in self.messages if row.pk in found]

    def children(self, of: int | None) -> list[Row]:
        return self.followers.get(of, [])

    def siblings(self, row: Row) -> list[Row]:
        """Those that stand at the same place, with the message itself."""
        return self.children(self.parents[row.pk])

    def shown(self, leaf: int | None) -> list[Row]:
        """The path that is shown with this leaf."""
        return self.up(self.end(leaf))


def tree(conversation: Conversation) -> Tree[Message]:
    return Tree.of(conversation.messages.said())


def outline(conversation: Conversation) -> Tree[OutlineRow]:
    """The tree without what was said."""
    fields = (OUTLINE.get(name, F(name)) for name in OutlineRow._fields)
    rows = conversation.messages.said().values_list(*fields)
    return Tree.of(map(OutlineRow._make, rows))


def path(conversation: Conversation, leaf: int | None = None) -> list[Message]:
    """The questions and answers that are shown, and that the next run reads.

    With the primary key of a message as `leaf`: those up to that message.
    """
    found = tree(conversation)
    return found.shown(conversation.leaf_id) if leaf is None else found.up(leaf)


def end_of_path(conversation: Conversation) -> int | None:
    """The last message that is shown, as a rule without reading the others."""
    leaf, said = conversation.leaf_id, conversation.messages.said().order_by()
    if leaf is None or not said.filter(pk=leaf).exists():
        return outline(conversation).end(leaf)
    return leaf


def shown_path(conversation: Conversation) -> list[OutlineRow]:
    """The questions and answers that are shown, without what was said."""
    return outline(conversation).shown(conversation.leaf_id)


def shown_runs(conversation: Conversation) -> list[str]:
    """The digits of the runs that made the path, in its order; last the one that is going."""
    return list(runs_of(shown_path(conversation)))


@dataclass(frozen=True, slots=True)
class ShownEvents:
    """Of events up to `last` those of `runs`, which are their digits, are shown, newer ones all."""

    last: int
    runs: frozenset[str]

    def select(self, said: Iterable[NumberedEvent]) -> list[NumberedEvent]:
        return [one for one in said if self.has(*one)]

    def has(self, number: int, run: UUID, event: StreamEvent) -> bool:
        return number > self.last or run.hex in self.runs or isinstance(event, BranchesChanged)


def runs_of(messages: Sequence[OutlineRow]) -> Iterator[str]:
    """Each answer's run; of a question without an answer the run that is to give it."""
    for row, after in zip_longest(messages, messages[1:]):
        is_answered = after is not None and after.role == ASSISTANT
        if row.run_id is not None and (row.role == ASSISTANT or not is_answered):
            yield row.run_id


def shown_branches(
    found: Tree[OutlineRow], shown: Sequence[OutlineRow], going: UUID | None
) -> dict[str, dict[str, Any]]:
    """Where the shown path has others beside it: their ids, and at which of them it stands.

    The page knows a question by its id, and an answer by its run. The answer that the run `going` is
    writing has no id yet: "".
    """
    told: dict[str, dict[str, Any]] = {}
    for row in shown:
        if len(siblings := found.siblings(row)) == 1:
            continue  # as nearly everywhere
        beside = [one for one in siblings if one.role == row.role]
        key = row.uuid if row.role == USER else row.run_id
        if len(beside) > 1 and key is not None:
            ids = [dashed(one.uuid) for one in beside]
            told[dashed(key)] = {"ids": ids, "at": beside.index(row)}
    if going is not None and shown and shown[-1].role == USER:
        earlier = [dashed(one.uuid) for one in found.children(shown[-1].pk)]
        if earlier:
            told[str(going)] = {"ids": [*earlier, ""], "at": len(earlier)}
    return told


def dashed(digits: str) -> str:
    """An id as the page knows it."""
    return str(UUID(digits))


def write_parents(found: Tree[OutlineRow]) -> None:
    """Write down which message follows which, so that what is stored from now on changes none of it.

    A copy of a shared conversation has no parents until its first branch begins.
    """
    unwritten = [
        Message(pk=row.pk, parent_id=found.parents[row.pk])
        for row in found.messages
        if row.parent_id is None and found.parents[row.pk]
    ]
    Message.objects.bulk_update(unwritten, ["parent"], batch_size=AT_ONCE)


def find_message(found: Tree[OutlineRow], uuid: UUID, role: str = "") -> OutlineRow:
    """Raises `Refused`."""
    for row in found.messages:
        if row.uuid == uuid.hex and role in ("", row.role):
            return row
    raise Refused("no_message", gettext("This message is not there any more. Reload the page."))
