"""Converts imported conversations to trees in which questions and answers alternate."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.utils.formats import number_format
from django.utils.translation import gettext

MOST_NODES = 20_000
MOST_CHARACTERS = 20_000_000
"""The maximum number of characters in one imported conversation."""
LONGEST_TITLE = 200
BEGINNING = "(This conversation began with an answer.)"
"""The text of the question that is inserted if a conversation begins with an answer."""

Speaker = Literal["user", "assistant"]
Source = Literal["chatgpt", "open-webui", "librechat", "quickapps"]


class UnreadableConversation(Exception):
    """A conversation or a file cannot be imported. The page shows the exception's text."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """An image or a file in an imported message."""

    key: str
    """The ID that is part of the file's name in the ZIP, or a `data:` URL with the content."""
    name: str
    line: str
    """The file's placeholder in the message's text."""


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A message in an imported file."""

    id: str
    parent: str | None
    role: Speaker | None = None
    """The author, or None to skip the message but import its replies."""
    text: str = ""
    at: datetime | None = None
    model: str = ""
    files: Sequence[SourceFile] = ()
    sender: Mapping[str, Any] | None = None
    """The sender, such as a schedule, of a message that no user wrote. See
    `apps.conversations.senders`.
    """


@dataclass(frozen=True, slots=True)
class SourceConversation:
    """A conversation in an imported file."""

    source: Source
    id: str
    title: str
    nodes: Sequence[SourceNode]
    leaf: str | None = None
    """The ID of the last shown message. If None, the newest message is shown."""
    created_at: datetime | None = None
    is_archived: bool = False
    is_pinned: bool = False
    tags: Sequence[str] = ()


@dataclass(slots=True)
class ImportedMessage:
    """A message to store."""

    parent: int | None
    """The index of the previous message, or None for the first message."""
    role: Speaker
    text: str
    at: datetime | None
    model: str = ""
    is_missing: bool = False
    """True for an empty answer that replaces an answer missing from the file."""
    files: Sequence[SourceFile] = ()
    sender: Mapping[str, Any] | None = None
    attachments: list[dict[str, str]] = field(default_factory=list)
    """The imported files, in the format of `Message.attachments`."""
    left_out: list[str] = field(default_factory=list)
    """The kinds and names of items that were not imported, for a notice in the message."""


@dataclass(frozen=True, slots=True)
class MessageTree:
    """The messages of a conversation, as a tree in which each question has an answer."""

    messages: Sequence[ImportedMessage]
    leaf: int | None
    """The index of the last shown message. If None, the newest message is shown."""


@dataclass(slots=True)
class Segment:
    """An imported node. Consecutive nodes with the same role are combined into one message."""

    before: "Segment | None" = None
    """The previous segment with the same role, or None."""
    parent: int | None = None
    node: SourceNode | None = None
    index: int | None = None

    @property
    def role(self) -> Speaker | None:
        return None if self.node is None else self.node.role

    def nodes(self) -> list[SourceNode]:
        found, segment = [], self
        while segment.node is not None:
            found.append(segment.node)
            if segment.before is None:
                break
            segment = segment.before
        return found[::-1]


@dataclass(slots=True)
class TreeBuilder:
    messages: list[ImportedMessage] = field(default_factory=list)
    characters: int = 0

    def store(self, segment: Segment) -> int | None:
        """Return the index of the segment's message in `messages`. Append the message if it is not
        there yet.
        """
        if segment.node is None or segment.index is not None:
            return segment.index
        nodes = segment.nodes()
        parent, first = segment.parent, nodes[0]
        if parent is None and first.role == "assistant":
            parent = self.add(ImportedMessage(None, "user", BEGINNING, first.at))
        text = "\n\n".join(node.text for node in nodes)
        model = next((node.model for node in reversed(nodes) if node.model), "")
        role = first.role or "user"
        files = [file for node in nodes for file in node.files]
        segment.index = self.add(
            ImportedMessage(parent, role, text, first.at, model, files=files, sender=first.sender)
        )
        return segment.index

    def add(self, message: ImportedMessage) -> int:
        """Append the message and return its index. Raises `UnreadableConversation` if the
        conversation exceeds `MOST_CHARACTERS`.
        """
        self.characters += len(message.text)
        if self.characters > MOST_CHARACTERS:
            raise UnreadableConversation(
                gettext("it has more than {most} characters").format(
                    most=number_format(MOST_CHARACTERS, force_grouping=True)
                )
            )
        self.messages.append(message)
        return len(self.messages) - 1


def tree_of(conversation: SourceConversation) -> MessageTree:
    """Convert a conversation to a tree of messages.

    A message without a known parent becomes a first message. Messages in cycles are skipped. Raises
    `UnreadableConversation` if the conversation has no messages or too many.
    """
    if len(conversation.nodes) > MOST_NODES:
        raise UnreadableConversation(
            gettext("it has more than {most} messages").format(
                most=number_format(MOST_NODES, force_grouping=True)
            )
        )
    nodes = {node.id: node for node in conversation.nodes}
    children: dict[str | None, list[SourceNode]] = defaultdict(list)
    for node in nodes.values():
        known = node.parent if node.parent in nodes else None
        children[known].append(node)
    builder = TreeBuilder()
    segments: dict[str, Segment] = {}
    waiting = [(node, Segment()) for node in reversed(children[None])]
    while waiting:
        node, before = waiting.pop()
        segment = segments[node.id] = following(builder, before, node)
        after = children.get(node.id, [])
        if not after:
            builder.store(segment)
        waiting += [(child, segment) for child in reversed(after)]
    leaf = index_of_leaf(conversation.leaf, segments, children)
    if not builder.messages:
        raise UnreadableConversation(gettext("it has no readable messages"))
    return answered(builder.messages, leaf)


def following(builder: TreeBuilder, before: Segment, node: SourceNode) -> Segment:
    if node.role is None or not node.text:
        return before
    if before.role == node.role:
        return Segment(before, before.parent, node)
    return Segment(None, builder.store(before), node)


def index_of_leaf(
    leaf: str | None,
    segments: Mapping[str, Segment],
    children: Mapping[str | None, Sequence[SourceNode]],
) -> int | None:
    if leaf is None or leaf not in segments:
        return None
    while after := children.get(leaf):
        leaf = after[-1].id
    return segments[leaf].index


def answered(messages: list[ImportedMessage], leaf: int | None) -> MessageTree:
    """Add an empty answer, marked as stopped, to each unanswered question. Return the messages as a
    tree.
    """
    followed = Counter(message.parent for message in messages)
    for index, message in enumerate(messages[:]):
        if message.role == "user" and not followed[index]:
            messages.append(ImportedMessage(index, "assistant", "", message.at, is_missing=True))
            leaf = len(messages) - 1 if leaf == index else leaf
    return MessageTree(messages, leaf)
