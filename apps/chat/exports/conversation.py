"""Exports a conversation as Markdown (the shown branch) or JSON (all branches)."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from apps.conversations.branches import path, tree
from apps.conversations.files.folder import safe_name
from apps.conversations.keeping.tags import tags_of
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.endings import current_todo
from apps.conversations.outcome.figures import figure_line, figures_of, visible_metrics
from apps.conversations.senders import is_continuation, sender_words
from apps.conversations.spoken import left_out_of
from apps.feedback.models import Feedback

HEADINGS = {
    Message.Role.USER: gettext_lazy("Question"),
    Message.Role.ASSISTANT: gettext_lazy("Answer"),
}


def export_name(conversation: Conversation, ending: str) -> str:
    title = conversation.title or gettext("Conversation")
    return safe_name(f"{title}.{ending}")


def document(conversation: Conversation) -> dict[str, Any]:
    """Return the conversation with all its branches as JSON. `leaf` is the ID of the last message
    on the shown branch.
    """
    found = tree(conversation)
    ids = {row.pk: str(row.uuid) for row in found.messages}
    end = found.end(conversation.leaf_id)
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "application": conversation.application_title,
        "created_at": conversation.created_at.isoformat(),
        "tags": tags_of([conversation.pk]).get(conversation.pk, []),
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
                **visible_metrics(figures_of(row.usage)),
            }
            for row in found.messages
        ],
    }


def markdown(conversation: Conversation) -> str:
    """Return the shown branch as Markdown, with the names and URLs of the attached files."""
    title = conversation.title or gettext("Untitled")
    parts = [
        f"# {title}",
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
        attachments = "\n".join(attachment_lines(message))
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
        todo_heading = gettext("To-do list")
        parts += [f"## {todo_heading}", todo]
    return "\n\n".join(parts) + "\n"


def left_out_line(message: Message) -> str:
    names = ", ".join(left_out_of(message.state))
    line = gettext("Not imported: {names}").format(names=names)
    return f"*{line}*" if names else ""


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
    """Return the title and the screen description of the page from which the user sent the message.
    Return "" if the message was not sent from a host application.
    """
    place = message.place or {}
    return ": ".join(filter(None, (place.get("title"), place.get("narrative"))))


def attachment_lines(message: Message) -> Iterator[str]:
    for attachment in message.attachments:
        words = (attachment.get("title"), attachment.get("url") or attachment.get("reference_url"))
        line = " ".join(" ".join(filter(None, words)).split())
        if line:
            yield f"- {line}"
