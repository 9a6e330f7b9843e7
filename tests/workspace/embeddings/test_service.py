from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from apps.agent.backoff import Backoff
from apps.errors import ServiceFailed
from apps.workspace.embeddings import service as embeddings_service
from apps.workspace.embeddings.service import MOST_TEXTS, ServiceEmbedder, shorten_to_tokens
from apps.workspace.openai.embeddings import OpenAIEmbeddings, make_embeddings_service
from tests.tables import each_row
from tests.workspace.openai.service import CLOSE, answer, service


@pytest.fixture(autouse=True)
def _loopback(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    patient = Backoff(attempts=3, initial_delay=0.0, max_delay=0.0)
    monkeypatch.setattr(embeddings_service, "BACKOFF", patient)


def items(*vectors: Any) -> list[dict[str, Any]]:
    return [{"embedding": vector, "index": index} for index, vector in enumerate(vectors)]


def embedded(*vectors: Any, **more: Any) -> list[Any]:
    body = {"object": "list", "data": items(*vectors), "model": "m-1", **more}
    return answer("200 OK", json.dumps(body).encode())


def make_embedder(url: str, **fields: Any) -> ServiceEmbedder:
    return ServiceEmbedder(OpenAIEmbeddings(make_embeddings_service(url, "sk-1")), "m", **fields)


async def test_a_service_is_asked_as_openai_is_and_answers_with_unit_vectors():
    replies = embedded([3, 4], [0.0, -2.0], usage={"prompt_tokens": 5, "total_tokens": 5})
    async with service(replies) as running:
        embedder = make_embedder(running.url + "?api-version=1", parameters={"dimensions": 2})
        found = await embedder.embed(["tea", "", "milk"])

    ((headers, body),) = running.requests
    assert (headers["target"], headers["authorization"]) == (
        "/v1/embeddings?api-version=1",
        "Bearer sk-1",
    )
    assert body == {
        "model": "m",
        "input": ["tea", "milk"],
        "encoding_format": "float",
        "dimensions": 2,
    }
    np.testing.assert_allclose(found.vectors, [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]], atol=1e-6)
    assert (found.model, found.unknown_shares, found.prompt_tokens) == ("m", (0.0,) * 3, 5)


async def test_vectors_come_in_base64_too_and_in_any_order():
    written = base64.b64encode(np.array([0, 1], "<f4").tobytes()).decode()
    data = [{"embedding": written, "index": 1}, {"embedding": [1.0, 0.0], "index": 0}]
    async with service(answer("200 OK", json.dumps({"data": data}).encode())) as running:
        found = await make_embedder(running.url).embed(["a", "b"])

    np.testing.assert_array_equal(found.vectors, [[1, 0], [0, 1]])


async def test_many_texts_are_several_requests():
    full = embedded(*([1.0],) * MOST_TEXTS, usage={"prompt_tokens": 64})
    async with service(full, embedded([1.0], usage={"prompt_tokens": 1})) as running:
        found = await make_embedder(running.url).embed(["a"] * (MOST_TEXTS + 1))

    assert [len(body["input"]) for _, body in running.requests] == [MOST_TEXTS, 1]
    assert (len(found.vectors), found.prompt_tokens) == (MOST_TEXTS + 1, 65)


async def test_texts_without_content_are_asked_of_nobody():
    found = await make_embedder("http://127.0.0.1:1").embed(["", " "])

    assert found.vectors.shape == (2, 0)


@pytest.mark.parametrize(
    ("text", "kept"),
    [("abc" * 10, 30), ("abc" * 11, 30), ("汉" * 11, 10), ("abcdef汉", 7)],
)
def test_a_text_is_cut_to_what_the_model_reads(text, kept):
    assert shorten_to_tokens(text, 10) == text[:kept]


async def test_half_a_character_is_sent_as_a_replacement():
    async with service(embedded([1.0])) as running:
        await make_embedder(running.url).embed(["a\ud83d"])

    assert running.requests[0][1]["input"] == ["a\ufffd"]


@each_row(
    ("data", "problem"),
    [
        (items([1.0]), "it has 1 vectors for 2 texts, or wrong indexes"),
        (items([1.0]) * 2, "it has 2 vectors for 2 texts, or wrong indexes"),
        (items([1.0], [1.0], [1.0]), "it has 3 vectors for 2 texts, or wrong indexes"),
        (items([1.0], [1.0, 2.0]), "its vectors have different lengths"),
        (items([], []), "its vectors have 0 dimensions"),
        (items([1.0], [1e300]), "its vectors contain values that are not finite numbers"),
        (items("AAAA", "AAAA"), "a vector is not base64 of 32-bit floats"),
        (items("?", "?"), "a vector is not base64 of 32-bit floats"),
        (items("AADAfw==", "AACAPw=="), "its vectors contain values that are not finite numbers"),
        (items(None, None), "it does not match the embeddings API"),
        ("none", "it does not match the embeddings API"),
    ],
)
async def test_an_answer_that_cannot_be_right_is_refused(data, problem):
    async with service(answer("200 OK", json.dumps({"data": data}).encode())) as running:
        with pytest.raises(ServiceFailed) as caught:
            await make_embedder(running.url).embed(["a", "b"])

    assert str(caught.value) == (
        f"The response of the embeddings service is unreadable: {problem}."
    )


@pytest.mark.parametrize("body", [b"", b"[", b'{"data": [{"index": 0, "embedding": [NaN]}]}'])
async def test_what_is_no_json_is_refused(body):
    async with service(answer("200 OK", body)) as running:
        with pytest.raises(ServiceFailed, match="does not match the embeddings API"):
            await make_embedder(running.url).embed(["a"])


async def test_batches_of_different_dimensions_are_refused():
    full = embedded(*([1.0],) * MOST_TEXTS)
    async with service(full, embedded([1.0, 2.0])) as running:
        with pytest.raises(ServiceFailed, match="vectors of one model have different lengths"):
            await make_embedder(running.url).embed(["a"] * (MOST_TEXTS + 1))


async def test_a_passing_failure_is_asked_again():
    busy, broken = answer("429 Too Many", b"{}"), [b"HTTP/1.1 200 OK\r\n", CLOSE]
    async with service(busy, broken, embedded([1.0])) as running:
        found = await make_embedder(running.url).embed(["a"])

    assert (len(found.vectors), len(running.requests)) == (1, 3)


async def test_a_refusal_is_told_by_its_status_and_without_the_services_words():
    async with service(answer("401 No", b'{"error": {"message": "sk-1 is wrong"}}')) as running:
        with pytest.raises(ServiceFailed) as caught:
            await make_embedder(running.url).embed(["a"])

    assert (str(caught.value), caught.value.status, len(running.requests)) == (
        "The embeddings service returned status 401.",
        401,
        1,
    )


async def test_an_answer_that_is_too_large_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr("apps.workspace.openai.embeddings.MOST_BYTES", 100)
    async with service(embedded([1.0] * 100)) as running:
        with pytest.raises(ServiceFailed, match="larger than 100 bytes"):
            await make_embedder(running.url).embed(["a"])


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://10.0.0.1/v1", "10.0.0.1"),
        ("http://[::1", "URL of the embeddings service is not valid"),
        ("ftp://a.example.com", "cannot be reached"),
    ],
)
async def test_an_address_that_cannot_be_asked_is_told(url, problem):
    with pytest.raises(ServiceFailed, match=problem):
        await make_embedder(url).embed(["a"])
