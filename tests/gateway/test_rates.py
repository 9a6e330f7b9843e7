"""Programs exceed their rate limits at a real site and through its Core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.contract import proves_feature
from tests.gateway.installation import ECHO, SLUG, Installation, serve_installation

pytestmark = pytest.mark.timeout(240)

HELLO: Any = [{"role": "user", "content": "Hello"}]
GIVE_A_KEY = """
from apps.accounts.models import ApiKey
from apps.workspace.local.models import Deployment
Deployment.objects.get_or_create(
    deployment_id="vectors", display_name="Vectors", kind="embedding", provider="minilm"
)
row, result = ApiKey.objects.create_key(name="own", **own)
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("rates")
    with serve_installation(folder, ECHO, KEY_REQUESTS_PER_MINUTE="2") as running:
        yield running


def client_of(installation: Installation, **own: int) -> openai.OpenAI:
    return installation.client(key=installation.site.shell(GIVE_A_KEY, own=own))


def told(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.startswith("x-ratelimit-")}


@proves_feature("completions", "limits")
def test_openais_client_reads_what_is_left_and_is_refused_in_its_own_words(
    installation: Installation,
):
    with installation.client() as client:
        completions = client.chat.completions.with_raw_response
        first, second = (completions.create(model=SLUG, messages=HELLO) for _ in range(2))
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(model=SLUG, messages=HELLO, stream=True)

    response = refused.value.response
    seconds = int(response.headers["retry-after"])
    assert 1 <= seconds <= 61
    assert response.json()["error"] == {
        "message": f"Rate limit reached for you: 2 requests per minute. Please try again in {seconds} s.",
        "type": "rate_limit_error",
        "param": None,
        "code": "rate_limit_exceeded",
        "display_message": response.json()["error"]["message"],
    }
    assert [told(one.headers)["x-ratelimit-remaining-requests"] for one in (first, second)] == [
        "1",
        "0",
    ]
    assert told(response.headers) == {
        "x-ratelimit-limit-requests": "2",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": f"{seconds * 1000}ms",
    }


def test_a_key_has_limits_of_its_own_also_for_vectors(installation: Installation):
    with client_of(installation, requests_per_minute=0, tokens_per_minute=3) as client:
        embeddings = client.embeddings.with_raw_response
        first = embeddings.create(model="vectors", input="Paris is a large town.")
        with pytest.raises(openai.RateLimitError) as refused:
            for _ in range(2):  # At the change of a minute, one token may be left.
                client.embeddings.create(model="vectors", input="Paris is a large town.")

    assert told(first.headers) == {
        "x-ratelimit-limit-tokens": "3",
        "x-ratelimit-remaining-tokens": "3",
        "x-ratelimit-reset-tokens": "0ms",
    }
    assert refused.value.code == "rate_limit_exceeded"
    assert "3 tokens per minute" in refused.value.message


async def test_core_is_told_with_a_status_that_it_does_not_take_for_a_fault(
    installation: Installation,
):
    body = {"messages": HELLO}
    answers = [await installation.core.call_application(SLUG, body) for _ in range(3)]

    error = answers[-1].json()["error"]
    assert [answer.status for answer in answers] == [200, 200, 403]
    assert error["code"] == "rate_limit_exceeded"
    assert error["display_message"].startswith("Rate limit reached for you: 2 requests per minute.")
