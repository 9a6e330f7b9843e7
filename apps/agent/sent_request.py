"""What a service was asked, as it was sent, and what its system prompt is composed of."""

from collections.abc import Set

import msgspec


class PromptSpan(msgspec.Struct, frozen=True, gc=False):
    """So many characters of the system prompt; spans follow each other with an empty line between.

    `source` names for people where the text is written.
    """

    layer: str
    source: str
    length: int


class SentRequest(msgspec.Struct, frozen=True, gc=False):
    """`body` is the JSON of the request to `model`, the service's name of it.

    `private` are the names of tools whose calls are for the person alone.
    """

    model: str
    body: bytes
    prompt: tuple[PromptSpan, ...] = ()
    private: Set[str] = frozenset()
