"""A request that is too long is told by each service in its own way, and read as one thing."""

import json
from typing import Any, cast

import pytest

from apps.workspace.services.failures import failure_in_stream, failure_of_refusal
from tests.contract import proves

TOO_LONG = [
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "the request exceeds the available context size (4096 tokens), try increasing it",
    "Prompt contains 65673 tokens, too large for model with 32768 maximum context length",
    "The input token count (1189484) exceeds the maximum number of tokens allowed (1048575).",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
]


class Refusal:
    def __init__(self, status: int = 400) -> None:
        self.status = status

    def header_texts(self) -> dict[str, str]:
        return {}


def refusal(status: int = 400) -> Any:
    return cast(Any, Refusal(status))


@proves("R-12")
@pytest.mark.parametrize("message", TOO_LONG)
def test_words_for_a_conversation_that_is_too_long_are_understood(message):
    body = json.dumps({"error": {"type": "invalid_request_error", "message": message}}).encode()

    for failure in (failure_of_refusal(refusal(), body), failure_in_stream(body)):
        assert (failure.code, failure.is_too_long) == ("context_length_exceeded", True)


def test_the_code_says_so_by_itself():
    body = b'{"error": {"code": "context_length_exceeded", "message": "No."}}'

    assert failure_of_refusal(refusal(), body).is_too_long


def test_too_large_a_body_is_too_long_as_well():
    assert failure_of_refusal(refusal(413), b"").is_too_long


@pytest.mark.parametrize("message", ["temperature is too high", "too many requests", "", None])
def test_other_refusals_are_not(message):
    body = json.dumps({"error": {"code": "invalid_value", "message": message}}).encode()

    failure = failure_of_refusal(refusal(), body)

    assert (failure.code, failure.is_too_long) == ("invalid_value", False)
