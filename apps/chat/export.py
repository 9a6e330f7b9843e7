"""A conversation as a file for download: the shown path as Markdown, or all of it as JSON."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from apps.chat.branches import path, tree
from apps.chat.figures import figure_line, figures_of, shown
from apps.chat.file_names import safe_name
from apps.chat.left_out import left_out_of
from apps.chat.models import Conversation, Message
from apps.chat.senders import is_continuation, sender_words
from apps.chat.todo import current_todo
from apps.feedback.models import Feedback

HEADINGS = {
    Message.Role.USER: gettext_lazy("Question"),
    Message.Role.ASSISTANT: gettext_lazy("Answer"),
}


def file_name(conversation: Conversation, ending: str) -> str:
    return safe_name(f"{conversation.title or gettext('Conversation')}.{ending}")


def document(conversation: Conversation) -> dict[str, Any]:
    """All questions and answers with their branches; `leaf` is the last message that is shown."""
    found = tree(conversation)
    ids = {row.pk: str(row.uuid) for row in found.messages}
    end = found.end(conversation.leaf_id)
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "application": conversation.application_title,
        "created_at": conversation.created_at.isoformat(),
        "leaf": None if end is None else ids[end],
        "messages": [
            {
                "id": ids[row.pk],
                "parent": ids.get(found.parents[row.pk] or 0),
                "role": row.role,
                "text": row.text,
                "attachments": row.attachments,
                "place": row.place,
                "sender": row.sender,
                "finish_reason": row.finish_reason or None,
                "created_at": row.created_at.isoformat(),
                **shown(figures_of(row.usage)),
            }
            for row in found.messages
        ],
    }


def markdown(conversation: Conversation) -> str:
    """The shown messages in order, with the names and addresses of their files."""
    parts = [
        f"# {conversation.title or gettext('Untitled')}",
        f"{conversation.application_title}, {conversation.created_at:%Y-%m-%d}",
    ]
    rows = Feedback.objects.filter(conversation=conversation.pk, bucket=conversation.owner)
    feedback = {row.message: row for row in rows}
    goes_on = False
    for message in path(conversation):
        if is_continuation(message.sender):
            goes_on = True
            continue
        if not goes_on:
            heading = HEADINGS[Message.Role(message.role)]
            parts.append(f"## {heading}, {message.created_at:%Y-%m-%d %H:%M} UTC")
        goes_on = False
        attachments = "\n".join(attached(message))
        texts = (
            sender_line(message),
            place_line(message),
            message.text,
            attachments,
            left_out_line(message),
            figure_line(message.usage),
            feedback_line(feedback.get(message.uuid)),
        )
        parts += [text for text in texts if text]
    if todo := current_todo(conversation):
        parts += [f"## {gettext('To-do list')}", todo]
    return "\n\n".join(parts) + "\n"


def left_out_line(message: Message) -> str:
    names = ", ".join(left_out_of(message.state))
    return f"*{gettext('Not imported: {names}').format(names=names)}*" if names else ""


def sender_line(message: Message) -> str:
    return "" if message.sender is None else sender_words(message.sender)


def feedback_line(row: Feedback | None) -> str:
    if row is None:
        return ""
    rating, reason = row.get_rating_display(), row.get_reason_display()
    words = (
        gettext("Your feedback: {rating}").format(rating=rating),
        reason,
        " ".join(row.comment.split()),
    )
    return " · ".join(filter(None, words))


def place_line(message: Message) -> str:
    """Where the person was, and what they looked at."""
    place = message.place or {}
    return ": ".join(filter(None, (place.get("title"), place.get("narrative"))))


def attached(message: Message) -> Iterator[str]:
    for attachment in message.attachments:
        words = (attachment.get("title"), attachment.get("url") or attachment.get("reference_url"))
        line = " ".join(" ".join(filter(None, words)).split())
        if line:
            yield f"- {line}"
