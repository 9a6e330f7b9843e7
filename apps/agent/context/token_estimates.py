"""Estimates the tokens of requests without asking the service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from apps.agent.messages import ModelMessage

CHARACTERS_PER_TOKEN = 4
"""The approximate number of characters per token in English and other alphabetic scripts."""
IMAGE_TOKENS = 100
"""The estimated number of tokens for an image of any size. Correcting estimates with the service's
own token counts reduces the error.
"""
LEAST_CORRECTION, MOST_CORRECTION = 0.5, 2.0
"""The limits of the correction factor. If the service's token count differs from the estimate by
more than this, it includes something else.
"""

_wide = re.compile(
    r"[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b"
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uff9d"
    r"\U00020000-\U000323af]+"
)
"""Matches Han, Hiragana, Katakana and Hangul. Their characters take about one token each."""
_above = re.compile(r"[\u1100-\U0010ffff]")
"""Matches any character at or above Hangul Jamo, the first of the wide scripts."""


def text_tokens(*texts: str) -> int:
    wide = characters = 0
    for text in texts:
        characters += len(text)
        if may_be_wide(text):
            wide += sum(map(len, _wide.findall(text)))
    return wide - (wide - characters) // CHARACTERS_PER_TOKEN


def may_be_wide(text: str) -> bool:
    """Return True if the text may contain characters that take a token each. If not, its length is
    enough for an estimate; counting wide characters takes 20 times as long.
    """
    if text.isascii():
        return False
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return _above.search(text) is not None
    return False


def message_tokens(message: ModelMessage) -> int:
    texts, pictures = texts_of(message)
    return text_tokens(*texts) + IMAGE_TOKENS * pictures


def most_tokens(message: ModelMessage) -> int:
    """Return an upper bound for the message's estimated tokens, from the lengths of its texts and
    the number of its images.
    """
    texts, pictures = texts_of(message)
    return sum(map(len, texts)) + IMAGE_TOKENS * pictures


def texts_of(message: ModelMessage) -> tuple[Sequence[str], int]:
    """Return the texts of a message that a model reads, and the number of its images."""
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


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates the tokens of messages, with a cache."""

    cache: dict[int, tuple[ModelMessage, int]] = field(default_factory=dict)

    def tokens(self, message: ModelMessage) -> int:
        # The message is stored with its count, because the ID of a freed message can be reused.
        found = self.cache.get(id(message))
        if found is None:
            found = self.cache[id(message)] = message, message_tokens(message)
        return found[1]

    def total(self, messages: Iterable[ModelMessage]) -> int:
        return sum(map(self.tokens, messages))


@dataclass(frozen=True, slots=True)
class ContextUse:
    """The number of tokens in a request, by purpose."""

    system: int = 0
    tools: int = 0
    user: int = 0
    assistant: int = 0
    tool_results: int = 0

    @property
    def total(self) -> int:
        return self.system + self.tools + self.user + self.assistant + self.tool_results

    def __add__(self, other: ContextUse) -> ContextUse:
        return ContextUse(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def corrected(self, correction: float) -> ContextUse:
        return ContextUse(*(round(getattr(self, f.name) * correction) for f in fields(self)))


def use_of(messages: Iterable[ModelMessage], estimator: Estimator, tools: int = 0) -> ContextUse:
    """Return the estimated number of tokens in a request, by purpose. `tools` is the size of its
    tool specifications in tokens.
    """
    spent = {"system": 0, "user": 0, "assistant": 0, "tool": 0}
    for message in messages:
        spent[message.role] += estimator.tokens(message)
    return ContextUse(spent["system"], tools, spent["user"], spent["assistant"], spent["tool"])


def correction_of(reported: int, estimated: int) -> float:
    """Return the ratio of `reported`, the service's own token count, to `estimated` tokens, within
    the limits of the correction factor.
    """
    if reported <= 0 or estimated <= 0:
        return 1.0
    return min(max(reported / estimated, LEAST_CORRECTION), MOST_CORRECTION)


@dataclass(frozen=True, slots=True)
class SentContext:
    """The newest request of a run."""

    messages: Sequence[ModelMessage] = ()
    tools: int = 0
    """The size of the tool specifications in tokens."""
    seen: int = 0
    """The number of messages in the conversation when the request was sent."""
    spent: int = 0
    """The number of usage records in the run when the request was sent."""


@dataclass(slots=True)
class TokenScale:
    """Corrects estimates: one estimated token corresponds to `correction` tokens in the service's
    count.
    """

    correction: float = 1.0
    estimator: Estimator = field(default_factory=Estimator)
    counted: tuple[int, SentContext] | None = None
    """The service's token count for a request, and this request. None after `learn` has used
    them.
    """

    def learn(self) -> None:
        """Compute the correction from the service's last count. This reads all messages of the
        request, so it is done only when needed.
        """
        if self.counted is not None:
            (reported, sent), self.counted = self.counted, None
            if estimated := use_of(sent.messages, self.estimator, sent.tools).total:
                self.correction = correction_of(reported, estimated)
