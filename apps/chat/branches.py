"""The tree of a conversation's messages: which path of it is shown, and what stands beside the path."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from uuid import UUID

from apps.chat.models import Conversation, Message
from apps.errors import Refused
from apps.live import journal, leases
from apps.live.events import BranchesChanged, NumberedEvent, StreamEvent

USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT


@dataclass(frozen=True, slots=True)
class Tree:
    """Questions and answers in the order in which they were stored, and the message before each.

    A message is stored after the one before it, so a path is in the order of the primary keys too.
    """

    messages: Sequence[Message]
    parents: dict[int, int | None]

    @classmethod
    def of(cls, messages: Iterable[Message]) -> "Tree":
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
        return cls(rows, parents)

    def end(self, leaf: int | None) -> int | None:
        """The last message of the path that is shown."""
        if leaf not in self.parents:
            return self.messages[-1].pk if self.messages else None
        for row in self.messages:
            # A process from before there were branches has stored it meanwhile.
            if row.parent_id is None and self.parents[row.pk] == leaf:
                leaf = row.pk
        return leaf

    def up(self, leaf: int | None) -> list[Message]:
        """The messages from the first one to `leaf`."""
        wanted = set()
        while leaf is not None:
            wanted.add(leaf)
            leaf = self.parents.get(leaf)
        return [row for row in self.messages if row.pk in wanted]

    def below(self, top: int) -> list[Message]:
        """The message and all that follow it, on any branch."""
        found = {top}
        for row in self.messages:
            if self.parents[row.pk] in found:
                found.add(row.pk)
        return [row for row in self.messages if row.pk in found]

    def children(self, of: int | None) -> list[Message]:
        return [row for row in self.messages if self.parents[row.pk] == of]

    def siblings(self, row: Message) -> list[Message]:
        """Those that stand at the same place, with the message itself."""
        return self.children(self.parents[row.pk])


def tree(conversation: Conversation) -> Tree:
    return Tree.of(conversation.messages.said())


def outline(conversation: Conversation) -> Tree:
    """The tree without what was said."""
    fields = ("uuid", "conversation", "run", "parent", "role", "sender", "finish_reason")
    return Tree.of(conversation.messages.said().only(*fields))


def path(conversation: Conversation, leaf: int | None = None) -> list[Message]:
    """The questions and answers that are shown, and that the next run reads.

    With the primary key of a message as `leaf`: those up to that message.
    """
    found = tree(conversation)
    return found.up(found.end(conversation.leaf_id) if leaf is None else leaf)


def shown_path(conversation: Conversation) -> list[Message]:
    """The questions and answers that are shown, without what was said."""
    found = outline(conversation)
    return found.up(found.end(conversation.leaf_id))


def shown_runs(conversation: Conversation) -> list[UUID]:
    """The runs that made the path, in its order; last the one that is going."""
    return list(runs_of(shown_path(conversation)))


@dataclass(frozen=True, slots=True)
class ShownEvents:
    """Of events up to `last` those of `runs` are shown, newer ones all."""

    last: int
    runs: frozenset[UUID]

    def select(self, said: Iterable[NumberedEvent]) -> list[NumberedEvent]:
        return [one for one in said if self.has(*one)]

    def has(self, number: int, run: UUID, event: StreamEvent) -> bool:
        return number > self.last or run in self.runs or isinstance(event, BranchesChanged)


def shown_events(conversation: UUID) -> ShownEvents:
    """What of the journal belongs to the path, as it is now."""
    last = journal.last_number(conversation)
    row = Conversation.objects.filter(pk=conversation).first()
    return ShownEvents(last, frozenset() if row is None else frozenset(shown_runs(row)))


def runs_of(messages: Sequence[Message]) -> Iterator[UUID]:
    """Each answer's run; of a question without an answer the run that is to give it."""
    for row, after in zip_longest(messages, messages[1:]):
        is_answered = after is not None and after.role == ASSISTANT
        if row.run_id is not None and (row.role == ASSISTANT or not is_answered):
            yield row.run_id


def shown_branches(conversation: Conversation) -> dict[str, dict[str, Any]]:
    """Where the path has others beside it: their ids, and at which of them it stands.

    The page knows a question by its id, and an answer by its run. An answer that is being written has
    no id yet: "".
    """
    found = outline(conversation)
    shown = found.up(found.end(conversation.leaf_id))
    told: dict[str, dict[str, Any]] = {}
    for row in shown:
        ids = [str(one.uuid) for one in found.siblings(row) if one.role == row.role]
        if len(ids) > 1:
            key = row.uuid if row.role == USER else row.run_id
            told[str(key)] = {"ids": ids, "at": ids.index(str(row.uuid))}
    going = leases.open_run(conversation.pk)
    if going is not None and shown and shown[-1].role == USER:
        earlier = [str(one.uuid) for one in found.children(shown[-1].pk)]
        if earlier:
            told[str(going.pk)] = {"ids": [*earlier, ""], "at": len(earlier)}
    return told


def write_parents(found: Tree) -> None:
    """Write down which message follows which, so that what is stored from now on changes none of it.

    Of a conversation from before there were branches, when the first one is about to begin.
    """
    unwritten = [row for row in found.messages if row.parent_id is None and found.parents[row.pk]]
    for row in unwritten:
        row.parent_id = found.parents[row.pk]
    Message.objects.bulk_update(unwritten, ["parent"])


def find_message(found: Tree, uuid: UUID, role: str = "") -> Message:
    """Raises `Refused`."""
    for row in found.messages:
        if row.uuid == uuid and role in ("", row.role):
            return row
    raise Refused("no_message", "This message is not there any more. Reload the page.")
