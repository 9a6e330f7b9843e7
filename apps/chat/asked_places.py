"""Where in a conversation's tree a question stands that is asked now."""

from dataclasses import dataclass

from django.utils.translation import gettext

from apps.chat.branches import (
    ASSISTANT,
    USER,
    OutlineRow,
    Tree,
    end_of_path,
    find_message,
    outline,
    write_parents,
)
from apps.chat.frames import Ask
from apps.chat.models import Conversation, Message
from apps.errors import Refused


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """`parent` is the message before it. `again` is a question that there is, which is answered once
    more. `is_root`: it begins the conversation beside another question. `is_branch`: what is shown now
    is not shown any more.
    """

    parent: int | None = None
    again: Message | None = None
    is_root: bool = False
    is_branch: bool = False


def place_of(conversation: Conversation, ask: Ask) -> AskedPlace:
    """Raises `Refused`."""
    if ask.again is not None:
        question = find_message(branching(conversation), ask.again, USER)
        return AskedPlace(again=Message.objects.get(pk=question.pk), is_branch=True)
    if ask.edits is not None:
        found = branching(conversation)
        parent = found.parents[find_message(found, ask.edits, USER).pk]
        return AskedPlace(parent, is_root=parent is None, is_branch=True)
    if ask.continues is not None:
        found = branching(conversation)
        answer = find_message(found, ask.continues, ASSISTANT)
        if answer.pk != found.end(conversation.leaf_id) or answer.finish_reason != "length":
            raise Refused(
                "not_cut",
                gettext("Only the last answer can go on, if it was cut. Ask a question instead."),
            )
        return AskedPlace(answer.pk)
    return AskedPlace(end_of_path(conversation))


def branching(conversation: Conversation) -> Tree[OutlineRow]:
    """The tree, in which another branch is about to begin."""
    found = outline(conversation)
    write_parents(found)
    return found
