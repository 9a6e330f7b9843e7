"""How many tokens texts and messages may have, without asking a service that counts them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from apps.agent.messages import Message

CHARACTERS_PER_TOKEN = 4
"""Of scripts with letters: what vendors give as a rule of thumb for English."""
IMAGE_TOKENS = 100
"""Of a picture of any size; what a service really counts is in the `correction` afterwards."""
LEAST_CORRECTION, MOST_CORRECTION = 0.5, 2.0
"""A service that counts less or more than this share of an estimate has counted something else."""

_wide = re.compile(
    r"[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b"
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uff9d"
    r"\U00020000-\U000323af]+"
)
"""Han, Hiragana, Katakana and Hangul, whose characters have about a token each."""
_above = re.compile(r"[\u1100-\U0010ffff]")
"""All characters from the first of these scripts on."""


def text_tokens(*texts: str) -> int:
    """The estimate for texts that follow each other, rounded up once."""
    wide = characters = 0
    for text in texts:
        characters += len(text)
        if may_be_wide(text):
            wide += sum(map(len, _wide.findall(text)))
    return wide - (wide - characters) // CHARACTERS_PER_TOKEN


def may_be_wide(text: str) -> bool:
    """Whether characters have to be looked at one by one, which takes twenty times as long."""
    if text.isascii():
        return False
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return _above.search(text) is not None
    return False


def message_tokens(message: Message) -> int:
    texts, pictures = texts_of(message)
    return text_tokens(*texts) + IMAGE_TOKENS * pictures


def most_tokens(message: Message) -> int:
    """The estimate is at most this, for which no character has to be looked at."""
    texts, pictures = texts_of(message)
    return sum(map(len, texts)) + IMAGE_TOKENS * pictures


def texts_of(message: Message) -> tuple[Sequence[str], int]:
    """The texts that a model reads in a message, and the number of its pictures."""
    texts, pictures = [message.text], 0
    if not isinstance(message.content, str):
        pictures = sum(part.get("type") == "image_url" for part in message.content)
    for call in message.tool_calls:
        texts += call.name, call.arguments
    if message.thoughts is not None:
        texts += message.thoughts.parts.values()
    for item in message.attachments:
        if item.type.startswith("image/"):
            pictures += 1
        else:
            texts += item.title, item.url or ""
    return texts, pictures


class Estimator:
    """Estimates messages, each of them once."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Message, int]] = {}

    def tokens(self, message: Message) -> int:
        # The message is kept with its count: a freed one could give its id to another.
        found = self.known.get(id(message))
        if found is None:
            found = self.known[id(message)] = message, message_tokens(message)
        return found[1]

    def total(self, messages: Iterable[Message]) -> int:
        return sum(map(self.tokens, messages))


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Tokens of a request, by what they are for."""

    system: int = 0
    tools: int = 0
    user: int = 0
    assistant: int = 0
    tool_results: int = 0

    @property
    def total(self) -> int:
        return self.system + self.tools + self.user + self.assistant + self.tool_results

    def __add__(self, other: "ContextUse") -> "ContextUse":
        return ContextUse(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def corrected(self, correction: float) -> "ContextUse":
        return ContextUse(*(round(getattr(self, f.name) * correction) for f in fields(self)))


def use_of(messages: Iterable[Message], estimator: Estimator, tools: int = 0) -> ContextUse:
    """The breakdown of a request with these messages, and `tools` tokens of tools."""
    spent = {"system": 0, "user": 0, "assistant": 0, "tool": 0}
    for message in messages:
        spent[message.role] += estimator.tokens(message)
    return ContextUse(spent["system"], tools, spent["user"], spent["assistant"], spent["tool"])


def correction_of(reported: int, estimated: int) -> float:
    """By what estimates of a conversation are to be multiplied, from what a service counted."""
    if reported <= 0 or estimated <= 0:
        return 1.0
    return min(max(reported / estimated, LEAST_CORRECTION), MOST_CORRECTION)
