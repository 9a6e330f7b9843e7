"""Each service reports a request that is too long in its own way; all are recognized alike."""

import json
from typing import Any, cast

import pytest

from apps.agent.meter import error_kind, service_message
from apps.errors import EgressRefused
from apps.workspace.egress.guard import Trust, check_reach
from apps.workspace.egress.ip_addresses import Reach
from apps.workspace.egress.sdk_clients import ConnectError, DecodingError, NetworkError
from apps.workspace.egress.transport import UNREACHABLE
from apps.workspace.services.failures import (
    failure_in_stream,
    failure_of_connection,
    failure_of_refusal,
    mask_and_cut,
)
from tests.contract import proves
from tests.tables import each_row

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
    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.status = status
        self.headers = headers

    def header_texts(self) -> dict[str, str]:
        return self.headers


def refusal(status: int = 400, **headers: str) -> Any:
    return cast(Any, Refusal(status, headers))


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


@each_row(
    ("code", "status", "is_transient"),
    [
        ("context_length_exceeded", 400, False),
        ("content_filter", 400, False),
        ("invalid_api_key", 401, False),
        ("model_not_found", 404, False),
        ("rate_limit_exceeded", 429, True),
        ("insufficient_quota", 429, False),
        ("server_error", 500, True),
        ("503", 503, True),
        ("of_another_kind", None, False),
    ],
)
def test_an_error_in_a_stream_has_the_status_of_its_code(code, status, is_transient):
    failure = failure_in_stream(json.dumps({"error": {"code": code}}).encode())

    assert (failure.status, failure.is_transient) == (status, is_transient)


@each_row(
    ("status", "location", "said"),
    [
        (402, "", "402: its account has no credit"),
        (
            307,
            "https://u:p@new.example/v1/chat?key=s3cret#a",
            "307: it redirects to https://new.example/v1/chat, which is not followed",
        ),
        (308, "/v2/chat", "308: it redirects to /v2/chat, which is not followed"),
        (302, "http://[", "302: it redirects, which is not followed"),
        (301, "", "301: it redirects, which is not followed"),
    ],
)
def test_operators_read_what_a_refusal_means(status, location, said):
    failure = failure_of_refusal(refusal(status, location=location), b"")

    assert str(failure) == f"The model's service returned status {said}"
    assert failure.said == said.partition(": ")[2]


def test_operators_read_what_a_refusal_means_before_what_the_service_says():
    failure = failure_of_refusal(refusal(402), b'{"error": {"message": "Pay first."}}')

    assert failure.said == "its account has no credit: Pay first."


def test_operators_read_why_an_answer_is_unreadable():
    packed = failure_of_connection(DecodingError("s3cret"))

    assert (error_kind(packed), service_message(packed)) == (
        "unreadable",
        "The model's service sent a compressed response that was not requested.",
    )
    assert service_message(failure_of_connection(NetworkError("s3cret"))) == ""
    assert service_message(ValueError("s3cret")) == ""


def test_a_blocked_request_has_its_own_kind_and_names_the_host_and_the_setting():
    with pytest.raises(EgressRefused) as caught:
        check_reach(Trust.OPERATOR, "gpu.internal", Reach.PRIVATE)
    blocked = failure_of_connection(caught.value)

    assert error_kind(blocked) == "blocked"
    assert service_message(blocked) == (
        "The host 'gpu.internal' is on a private network. If the server may contact it, add "
        "gpu.internal to the setting PRIVATE_NETWORK_ALLOWLIST."
    )
    # The rest of the server, and so each client, sees a failed connection.
    assert (blocked.reason, blocked.status, blocked.is_transient) == ("connection", None, False)


@pytest.mark.parametrize("message", ["temperature is too high", "too many requests", "", None])
def test_other_refusals_are_not(message):
    body = json.dumps({"error": {"code": "invalid_value", "message": message}}).encode()

    failure = failure_of_refusal(refusal(), body)

    assert (failure.code, failure.is_too_long) == ("invalid_value", False)


@each_row(
    ("body", "said"),
    [
        (
            b'{"error": {"message": "temperature\\n  is\\u0000 too high"}}',
            "temperature is too high",
        ),
        (b'{"error": "no such model"}', "no such model"),
        (b'{"detail": "Not authorized"}', "Not authorized"),
        (b"upstream connect error", "upstream connect error"),
        (b"<html><body>502 Bad Gateway</body></html>", ""),
        (b'{"error": {"message": 5}}', ""),
        (b'{"error": {"message": "sent Bearer abcdefgh"}}', "sent Bearer …"),
        (b'{"error": {"message": "wrong key sk-proj-abc123***XYZ9"}}', "wrong key …"),
        (b'{"error": {"message": "api_key=abcdefgh is wrong"}}', "api_key=… is wrong"),
        (
            b"{\"message\": \"[{'loc': ('body', 'messages'), 'input': [{'role': 'user'}]}]\"}",
            "[{'loc': ('body', 'messages'), …",
        ),
        (b'{"message": "Bad type of \'input[0].content\'"}', "Bad type of 'input[0].content'"),
    ],
)
def test_operators_read_one_line_without_credentials_and_the_request(body, said):
    assert failure_of_refusal(refusal(), body).said == said


def test_a_long_message_is_cut():
    said = failure_of_refusal(refusal(), b"a" * 400 + b" " + b"key-" * 50).said

    assert mask_and_cut(said, ["key-" * 50]) == "a" * 400 + " …"
    assert mask_and_cut("a" * 5_000, []) == "a" * 499 + "…"


def test_credentials_of_the_service_are_masked_in_each_spelling():
    assert mask_and_cut("a/b+c=d a%2Fb%2Bc%3Dd", ["a/b+c=d"]) == "… …"
    assert mask_and_cut("abc", ["abc", ""]) == "abc"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConnectError(UNREACHABLE), "The model's service cannot be reached."),
        (ConnectError("No route."), "The model's service cannot be reached. No route."),
        (NetworkError("Broken pipe."), "The model's service disconnected. Broken pipe."),
        (NetworkError(""), "The model's service disconnected."),
    ],
)
def test_a_lost_connection_is_described_once(error: Exception, message: str):
    failure = failure_of_connection(error)

    assert (str(failure), failure.is_transient) == (message, True)
