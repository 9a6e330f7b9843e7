"""The Responses API. tests/workspace/services covers all APIs."""

from __future__ import annotations

import asyncio
import json

import pytest

from apps.agent.answers.assembly import Assembly
from apps.agent.answers.replies import RetryPolicy
from apps.agent.messages import ModelMessage
from apps.agent.model import ModelRequest
from apps.errors import ModelFailed
from apps.workspace.responses.model import make_responses_model
from apps.workspace.services.client import ModelService as Address
from apps.workspace.services.model import ServiceModel
from apps.workspace.services.probe import probe
from tests.contract import proves
from tests.workspace.openai.service import Service, answer, chunked, service
from tests.workspace.responses.wire import encoded, message, response, stream, streamed

pytestmark = pytest.mark.usefixtures("loopback")

QUESTION = ModelRequest((ModelMessage("user", "Hi"),))
BEGUN = stream(message("a")).partition(b"event: response.output_text.done")[0]
ERROR = encoded({"type": "error", "code": "server_error", "message": "m"})


def model_of(running: Service) -> ServiceModel[Address]:
    return make_responses_model(base_url=running.url, api_key="key-1", model="m", idle_seconds=60.0)


async def assembled(running: Service) -> Assembly:
    """Return the answer to a request like that of a run. Raises `ModelFailed`."""
    assembly = Assembly(lambda event: None)
    policy = RetryPolicy(wait=lambda pause: asyncio.sleep(0))
    async with asyncio.timeout(60):
        await policy.receive(model_of(running), QUESTION, assembly, "m")
    return assembly


@proves("T-57")
async def test_a_service_in_trouble_is_asked_again_before_its_first_word():
    """T-57."""
    async with service(chunked(ERROR), streamed(message("Late"))) as running:
        assembly = await assembled(running)

    assert assembly.reply("m").message.text == "Late"


@proves("T-57")
async def test_it_is_not_asked_again_after_its_first_word():
    """T-57."""
    async with service(chunked(BEGUN, ERROR), streamed(message("Twice"))) as running:
        with pytest.raises(ModelFailed):
            await assembled(running)

    assert len(running.requests) == 1


async def test_a_service_that_answers_later_has_not_answered():
    """A service that works in the background answers like this."""
    queued = json.dumps(response(status="queued")).encode()

    async with service(answer("200 OK", queued)) as running:
        with pytest.raises(ModelFailed) as caught:
            await assembled(running)

    assert str(caught.value) == "The model's service did not complete its response."


async def test_a_connection_is_tested_by_asking_for_a_word():
    async with service(streamed(message("ready")), answer("404 Not Found", b"{}")) as running:
        results = [await probe(model_of(running)) for _ in range(2)]

    assert [result.failed for result in results] == [None, "model"]
