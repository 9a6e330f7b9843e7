"""A stored message as a run reads it."""

from typing import TYPE_CHECKING, Any, NamedTuple

from apps.agent.messages import Message as Spoken
from apps.agent.messages import Role, attachment_from_dict
from apps.chat.left_out import LEFT_OUT, text_for_models
from apps.chat.senders import taint_of
from apps.manifest.narrative import introduced, narrated

if TYPE_CHECKING:
    from apps.chat.models import Message


class SpokenRow(NamedTuple):
    """What is read of a message; a model of it takes four times as long to make."""

    role: str
    text: str
    attachments: list[dict[str, Any]]
    state: dict[str, Any]
    place: dict[str, Any] | None
    sender: dict[str, Any] | None


def spoken(row: "SpokenRow | Message") -> Spoken:
    role: Role = "user" if row.role == "user" else "assistant"
    attachments = tuple(attachment_from_dict(written) for written in row.attachments)
    kept = {key: value for key, value in row.state.items() if key != LEFT_OUT}
    state: dict[str, Any] = {**kept, **taint_of(row.sender)}
    place = row.place or {}
    text = text_for_models(row.text, row.state) if not attachments else row.text
    text = narrated(text, place.get("title", ""), place.get("narrative", ""))
    text = introduced(text, row.sender)
    return Spoken(role, text, attachments=attachments, state=state)
