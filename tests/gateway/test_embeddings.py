from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.urls import re_path

from apps.accounts.models import ApiKey
from apps.gateway import embeddings
from apps.gateway.embeddings import EmbeddingsConsumer
from apps.insights.call_rows import write
from apps.insights.meter import CallEntry
from apps.insights.models import ModelCall
from apps.workspace.local.models import Deployment
from tests.gateway.scripts import Answer, Client, add_application, router
from tests.tables import each_row
from tests.workspace.openai.service import answer, service

pytestmark = pytest.mark.django_db
MINILM = "all-minilm-l6-v2"


async def make_key(**fields: Any) -> str:
    _, key = await sync_to_async(ApiKey.objects.create_key)(name="test", **fields)
    return str(key)


def make_deployment(**fields: Any) -> None:
    given = {"display_name": "Vectors", "kind": "embedding", "description": "Makes vectors"}
    Deployment.objects.create(**given | fields)


add_deployment = sync_to_async(make_deployment)


@pytest.fixture
def key(db: None) -> str:
    make_deployment(deployment_id=MINILM, provider="minilm")
    _, key = ApiKey.objects.create_key(name="test")
    return str(key)


async def post(body: Any, key: str = "", path: str = "/v1/embeddings", **options: Any) -> Answer:
    headers = {"api-key": key} if key else {}
    client = Client(router(), path, method="POST", headers=headers, **options)
    await client.send(body if isinstance(body, bytes) else json.dumps(body).encode())
    return await client.read()


async def get(path: str, key: str) -> Answer:
    client = Client(router(), path, headers={"api-key": key})
    await client.send()
    return await client.read()


def message(refused: Answer) -> tuple[int, str]:
    return refused.status, refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/embeddings",
        "/openai/v1/embeddings/",
        f"/openai/deployments/{MINILM}/embeddings",
    ],
)
async def test_texts_are_answered_with_vectors_at_every_address(key: str, path: str):
    found = await post({"model": MINILM, "input": ["tea", "coffee"]}, key, path)

    body = found.json()
    vectors = np.array([item.pop("embedding") for item in body["data"]])
    assert (found.status, body) == (
        200,
        {
            "object": "list",
            "data": [{"object": "embedding", "index": index} for index in (0, 1)],
            "model": MINILM,
            "usage": {"prompt_tokens": 6, "total_tokens": 6},
        },
    )
    assert vectors.shape == (2, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_vectors_come_in_base64_where_that_is_asked(key: str):
    asked = {"model": MINILM, "input": "tea"}

    plain = (await post(asked, key)).json()["data"][0]["embedding"]
    packed = (await post({**asked, "encoding_format": "base64"}, key)).json()["data"][0]

    read = np.frombuffer(base64.b64decode(packed["embedding"]), "<f4")
    np.testing.assert_array_equal(read, np.array(plain, np.float32))


async def test_what_has_no_effect_is_named(key: str):
    asked = {"model": "other", "input": "tea", "user": "anna", "odd": 1, "dimensions": 384}

    found = await post(asked, key, f"/openai/deployments/{MINILM}/embeddings")

    assert (found.status, found.headers["x-ignored-parameters"]) == (200, "model, odd, user")


@each_row(
    ("fields", "problem"),
    [
        ({"input": []}, "on path input. Send 1 to 2048 texts."),
        ({"input": ["a"] * 2049}, "on path input. Send 1 to 2048 texts."),
        ({"input": {"a": 1}}, "on path input. Send a string or an array of strings."),
        ({"input": [1, 2, 3]}, "on path input.0. Tokens are not supported. Send text."),
        ({"input": [[1], [2]]}, "on path input.0. Tokens are not supported. Send text."),
        ({"input": ["a", None]}, "on path input.1. Send a string."),
        ({"input": " "}, "on path input. The text is empty. Send some text."),
        ({"input": ["a", ""]}, "on path input.1. The text is empty. Send some text."),
        (
            {"dimensions": 256},
            (
                "on path dimensions. The model's vectors have 384 dimensions. Leave 'dimensions' out."
            ),
        ),
        ({"dimensions": 0}, "on path dimensions. Expected `int` >= 1."),
        ({"encoding_format": "hex"}, "on path encoding_format. Invalid enum value 'hex'."),
        ({"custom_input": ["a"]}, "on path custom_input. Only texts can be embedded. Send them as"),
    ],
)
async def test_what_cannot_be_embedded_is_refused_at_its_place(
    key: str, fields: dict[str, Any], problem: str
):
    status, told = message(await post({"model": MINILM, "input": "a", **fields}, key))

    assert status == 400
    assert told.startswith(f"Your request contained invalid structure {problem}")


async def test_a_request_has_a_largest_size(key: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(embeddings, "MOST_CHARACTERS", 10)

    status, told = message(await post({"model": MINILM, "input": ["a" * 6, "b" * 5]}, key))

    assert (
        status,
        told.endswith("The texts are too long; the limit is 10 characters per request."),
    ) == (400, True)


@pytest.mark.parametrize("body", [b"", b"{", b'{"input": "\xff"}'])
async def test_a_body_that_is_no_json_is_refused(key: str, body: bytes):
    status, told = message(await post(body, key))

    assert (status, told.startswith("The request body isn't valid JSON")) == (400, True)


async def test_only_embedding_deployments_are_found(key: str):
    await add_deployment(deployment_id="chatty", kind="chat", provider="demo")
    await add_deployment(deployment_id="off", provider="minilm", is_enabled=False)
    application = await add_application()

    for name in ("chatty", "off", application.slug, "none", "a\0b"):
        refused = await post({"model": name, "input": "a"}, key)
        text = f"There is no embeddings deployment named {name!r} that you may use."
        assert message(refused) == (404, text)
        assert refused.json()["error"]["code"] == "DeploymentNotFound"


async def test_keys_of_some_applications_and_visitors_get_none(key: str):
    limited = await make_key(is_limited=True)
    asked = {"model": MINILM, "input": "a"}

    assert (await post(asked, limited)).status == 404
    assert (await post(asked)).status == 401
    assert (await post(asked, "wrong")).status == 401
    assert (await get("/v1/models", limited)).json()["data"] == []
    assert (await get(f"/v1/models/{MINILM}", limited)).status == 404


async def test_embedding_deployments_are_listed_as_such(key: str):
    application = await add_application()
    await add_deployment(deployment_id="chatty", kind="chat", provider="demo")

    listed = {item["id"]: item for item in (await get("/v1/models", key)).json()["data"]}

    assert listed.keys() == {application.slug, MINILM}
    entry = listed[MINILM]
    assert (entry["display_name"], entry["description"]) == ("Vectors", "Makes vectors")
    assert entry["capabilities"] == {
        "completion": False,
        "chat_completion": False,
        "embeddings": True,
    }
    assert (await get(f"/openai/deployments/{MINILM}", key)).json() == entry


async def test_the_window_of_an_embedding_deployment_is_listed(key: str):
    await add_deployment(deployment_id="large", base_url="http://h/v1", context_window=8192)

    entry = (await get("/v1/models/large", key)).json()

    assert entry["limits"] == {"max_total_tokens": 8192}


async def test_dimensions_are_passed_on_to_a_service(key: str, settings: Any):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    reply = answer("200 OK", b'{"data": [{"index": 0, "embedding": [0.5, 0, 0]}]}')
    async with service(reply, reply) as running:
        await add_deployment(
            deployment_id="large.1", base_url=running.url, model_name="large", api_key="k"
        )
        asked = {"model": "large.1", "input": "a"}
        right = await post({**asked, "dimensions": 3}, key)
        wrong = await post({**asked, "dimensions": 2}, key)

    assert running.requests[0][1] == {
        "model": "large",
        "input": ["a"],
        "encoding_format": "float",
        "dimensions": 3,
    }
    assert right.json()["data"][0]["embedding"] == [1.0, 0.0, 0.0]
    assert message(wrong)[1].endswith(
        "on path dimensions. The model's vectors have 3 dimensions. Leave 'dimensions' out."
    )


@pytest.mark.parametrize(
    ("reply", "status", "text"),
    [
        ("400 Bad", 400, "The request was rejected as invalid by the AI model service."),
        ("401 No", 401, "Authentication failed when accessing the AI model."),
        ("200 OK", 500, "The AI model service failed while responding."),
    ],
)
async def test_a_service_that_fails_is_told_as_a_models_is(
    key: str, settings: Any, reply: str, status: int, text: str
):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    async with service(answer(reply, b"{}")) as running:
        await add_deployment(deployment_id="large.1", base_url=running.url)
        found, told = message(await post({"model": "large.1", "input": "a"}, key))

    assert (found, told.startswith(text)) == (status, True)


async def test_vectors_leave_a_row_that_belongs_to_no_run(key):
    kept: list[CallEntry] = []
    consumer = EmbeddingsConsumer.as_asgi(keep=kept.append)
    embed = URLRouter([re_path("^v1/embeddings$", consumer)])
    client = Client(embed, "/v1/embeddings", method="POST", headers={"api-key": key})
    await client.send(json.dumps({"model": MINILM, "input": "Hello"}).encode())
    await client.read()

    await sync_to_async(write)(kept)

    row = await ModelCall.objects.aget()
    assert (row.run, row.application, row.door, row.bucket_kind) == (None, "", "gateway", "key")
    assert (row.deployment, row.provider, row.cost) == (MINILM, "minilm", None)
