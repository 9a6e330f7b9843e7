"""Converts stored messages to the messages that runs send to models."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from apps.agent.messages import ModelMessage, Role, attachment_from_dict
from apps.conversations.senders import taint_of
from apps.manifest.narrative import introduce_message, narrate_question

if TYPE_CHECKING:
    from apps.conversations.models import Message

LEFT_OUT = "left_out"
"""The key in `Message.state` for the names of files that an import omitted."""
FOR_MODELS = "(This message had attachments that are not available: {names}.)"


class SpokenRow(NamedTuple):
    """The columns of a message that runs read. Creating a row is four times faster than creating a
    model instance.
    """

    role: str
    text: str
    attachments: list[dict[str, Any]]
    state: dict[str, Any]
    place: dict[str, Any] | None
    sender: dict[str, Any] | None


def spoken_text(row: "SpokenRow | Message") -> ModelMessage:
    role: Role = "user" if row.role == "user" else "assistant"
    attachments = tuple(attachment_from_dict(written) for written in row.attachments)
    kept = {key: value for key, value in row.state.items() if key != LEFT_OUT}
    state: dict[str, Any] = {**kept, **taint_of(row.sender)}
    place = row.place or {}
    text = text_for_models(row.text, row.state) if not attachments else row.text
    text = narrate_question(text, place.get("title", ""), place.get("narrative", ""))
    text = introduce_message(text, row.sender)
    return ModelMessage(role, text, attachments=attachments, state=state)


def left_out_of(state: Mapping[str, Any]) -> list[str]:
    """Return the names of files that an import omitted, such as `Picture “cat.png”`."""
    return list(state.get(LEFT_OUT, ()))


def text_for_models(text: str, state: Mapping[str, Any]) -> str:
    """Return the message's text. If it is empty, return the names of files that an import omitted,
    because model services reject empty messages.
    """
    if text or not (names := left_out_of(state)):
        return text
    return FOR_MODELS.format(names=", ".join(names))
