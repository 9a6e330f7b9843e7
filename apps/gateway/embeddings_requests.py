"""Requests for embeddings, in OpenAI's form: each parameter is used, refused by name, or ignored."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from apps.errors import BadRequest
from apps.gateway.refusals import invalid, invalid_structure

MOST_TEXTS = 2_048
MOST_CHARACTERS = 1_000_000
"""Of all texts of a request: a long book. The built-in model takes minutes for it."""
USED = frozenset({"input", "model", "encoding_format", "dimensions"})


class EmbeddingsRequest(msgspec.Struct):
    input: Any
    model: str | None = None
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    custom_input: Any = None

    @property
    def texts(self) -> list[Any]:
        """Texts alone, once they have been checked."""
        return [self.input] if isinstance(self.input, str) else list(self.input)


_decode = msgspec.json.Decoder(EmbeddingsRequest).decode
_decode_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read(body: bytes) -> tuple[EmbeddingsRequest, frozenset[str]]:
    """The request, and the names of its parameters that have no effect. Raises `BadRequest`."""
    try:
        if not body.isascii():
            body.decode()
        asked = _decode(body)
        names = _decode_names(body).keys()
    except msgspec.ValidationError as error:
        raise invalid_structure(str(error)) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadRequest(f"The request body isn't valid JSON: {error}") from error
    if asked.custom_input is not None:
        raise invalid("custom_input", "Only texts are embedded. Send them as 'input'.")
    check_texts(asked)
    return asked, frozenset(names - USED)


def check_texts(asked: EmbeddingsRequest) -> None:
    """Raises `BadRequest`."""
    if not isinstance(asked.input, str | list):
        raise invalid("input", "Expected `str | array`.")
    if not 0 < len(asked.texts) <= MOST_TEXTS:
        raise invalid("input", f"Send 1 to {MOST_TEXTS} texts.")
    for index, text in enumerate(asked.texts):
        path = "input" if isinstance(asked.input, str) else f"input.{index}"
        if isinstance(text, int | list):
            raise invalid(path, "Tokens are not understood. Send text.")
        if not isinstance(text, str):
            raise invalid(path, "Expected `str`.")
        if not text.strip():
            raise invalid(path, "Send a text that is not empty.")
    check_size(asked.texts)


def check_size(texts: Sequence[str]) -> None:
    """Raises `BadRequest`."""
    if sum(map(len, texts)) > MOST_CHARACTERS:
        raise invalid("input", f"Send at most {MOST_CHARACTERS:,} characters in one request.")
