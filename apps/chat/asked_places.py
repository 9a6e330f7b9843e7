"""Where in a conversation's tree a question stands that is asked now."""

from dataclasses import dataclass

from apps.chat.branches import ASSISTANT, USER, find_message, outline, write_parents
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
    found = outline(conversation)
    end = found.end(conversation.leaf_id)
    if ask.is_branching:
        write_parents(found)
    if ask.again is not None:
        question = find_message(found, ask.again, USER)
        return AskedPlace(again=Message.objects.get(pk=question.pk), is_branch=True)
    if ask.edits is not None:
        parent = found.parents[find_message(found, ask.edits, USER).pk]
        return AskedPlace(parent, is_root=parent is None, is_branch=True)
    if ask.continues is not None:
        answer = find_message(found, ask.continues, ASSISTANT)
        if answer.pk != end or answer.finish_reason != "length":
            raise Refused(
                "not_cut", "Only the last answer can go on, if it was cut. Ask a question instead."
            )
    return AskedPlace(end)
