"""Files of tools on the answer: beside its text, or as pictures inside it."""

import re
from collections.abc import Iterable

from apps.agent.assembly import show_once
from apps.agent.events import TextDelta
from apps.agent.messages import Attachment
from apps.agent.progress import BETWEEN_TEXTS, Turn
from apps.agent.tools import ToolResult

TITLE_CHARACTERS = 200

_control = re.compile(r"[\x00-\x20\x7f]+")
_markup = re.compile(r"([\\`*_\[\]<>!&])")
_address = re.compile(r"[\s\x00-\x1f<>()\[\]\\\"]")


def show_files(result: ToolResult, turn: Turn) -> None:
    """Show what the answer does not have yet."""
    show_pictures(result.pictures, turn)
    for attachment in result.propagated:
        show_once(attachment, turn.emit, turn.progress.shown)


def show_pictures(pictures: Iterable[Attachment], turn: Turn) -> None:
    """Continue the answer with the pictures that it does not have yet."""
    progress = turn.progress
    new = [one for one in pictures if one.url is not None and one.url not in progress.shown]
    if not new:
        return
    progress.shown.update(one.url for one in new if one.url is not None)
    text = BETWEEN_TEXTS.join(map(as_markdown, new))
    turn.emit(TextDelta(progress.lead + text))
    progress.say(text)


def as_markdown(picture: Attachment) -> str:
    """Title and address come from a service, and must not end the picture."""
    words = _control.sub(" ", picture.title).strip()[:TITLE_CHARACTERS]
    title = _markup.sub(r"\\\1", words)
    address = _address.sub(lambda found: f"%{ord(found[0]):02X}", picture.url or "")
    return f"![{title}]({address})"
