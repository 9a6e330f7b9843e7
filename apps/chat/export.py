"""A conversation as a Markdown file for download."""

from collections.abc import Iterator

from apps.chat.figures import figure_line
from apps.chat.file_names import safe_name
from apps.chat.models import Conversation, Message
from apps.chat.senders import sender_words
from apps.chat.todo import current_todo
from apps.feedback.models import Feedback

HEADINGS = {Message.Role.USER: "Question", Message.Role.ASSISTANT: "Answer"}


def file_name(conversation: Conversation) -> str:
    return safe_name(f"{conversation.title or 'Conversation'}.md")


def markdown(conversation: Conversation) -> str:
    """All messages in order, with the names and addresses of their files."""
    application = conversation.application
    title = conversation.former_title if application is None else application.title
    parts = [
        f"# {conversation.title or 'Untitled'}",
        f"{title}, {conversation.created_at:%Y-%m-%d}",
    ]
    rows = Feedback.objects.filter(conversation=conversation.pk, bucket=conversation.owner)
    feedback = {row.message: row for row in rows}
    for message in conversation.messages.said():
        heading = HEADINGS[Message.Role(message.role)]
        parts.append(f"## {heading}, {message.created_at:%Y-%m-%d %H:%M} UTC")
        attachments = "\n".join(attached(message))
        texts = (
            sender_line(message),
            place_line(message),
            message.text,
            attachments,
            figure_line(message.usage),
            feedback_line(feedback.get(message.uuid)),
        )
        parts += [text for text in texts if text]
    if todo := current_todo(conversation):
        parts += ["## To-do list", todo]
    return "\n\n".join(parts) + "\n"


def sender_line(message: Message) -> str:
    return "" if message.sender is None else sender_words(message.sender)


def feedback_line(row: Feedback | None) -> str:
    if row is None:
        return ""
    rating, reason = row.get_rating_display(), row.get_reason_display()
    words = (f"Your feedback: {rating}", reason, " ".join(row.comment.split()))
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
