"""Finds the position of a new question in a conversation's message tree."""

from dataclasses import dataclass

from django.utils.translation import gettext

from apps.conversations.ask import Ask
from apps.conversations.branches import (
    ASSISTANT,
    USER,
    OutlineRow,
    Tree,
    end_of_path,
    find_message,
    outline,
    write_parents,
)
from apps.conversations.models import Conversation, Message
from apps.errors import Refused


@dataclass(frozen=True, slots=True)
class QuestionPosition:
    """The position of a question in a conversation's message tree."""

    parent: int | None = None
    """The primary key of the previous message."""
    again: Message | None = None
    """The existing question, if it is answered again."""
    is_root: bool = False
    """True for an alternative to the first question."""
    is_branch: bool = False


def find_position(conversation: Conversation, ask: Ask) -> QuestionPosition:
    """Return the position of a question. Raises `Refused` if a message that it refers to does not
    exist or cannot be continued.
    """
    if ask.again is not None:
        question = find_message(branching(conversation), ask.again, USER)
        return QuestionPosition(again=Message.objects.get(pk=question.pk), is_branch=True)
    if ask.edits is not None:
        found = branching(conversation)
        parent = found.parents[find_message(found, ask.edits, USER).pk]
        return QuestionPosition(parent, is_root=parent is None, is_branch=True)
    if ask.continues is not None:
        found = branching(conversation)
        answer = find_message(found, ask.continues, ASSISTANT)
        if answer.pk != found.end(conversation.leaf_id) or answer.finish_reason != "length":
            raise Refused(
                "not_cut",
                gettext(
                    "Only the last answer can be continued, and only if it was cut off. Ask a "
                    "question instead."
                ),
            )
        return QuestionPosition(answer.pk)
    return QuestionPosition(end_of_path(conversation))


def branching(conversation: Conversation) -> Tree[OutlineRow]:
    """Return the conversation's message tree for a question that may begin a branch. Missing
    parents are stored first; see `write_parents`.
    """
    found = outline(conversation)
    write_parents(found)
    return found
