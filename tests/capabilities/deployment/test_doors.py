"""A client of the gateway calls an application whose tool is another application."""

import asyncio
import json
import re

import pytest
from asgiref.sync import sync_to_async

from tests.capabilities.deployment.scripts import simple, team
from tests.capabilities.manifests import PROMPT
from tests.catalog.rows import make_application, make_deployment
from tests.contract import proves
from tests.gateway.scripts import Client, question, router
from tests.workspace.openai.service import (
    DONE,
    HOLD,
    Service,
    chunked,
    event,
    finish,
    service,
    text,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

PATH = "/openai/deployments/outer/chat/completions"


def calling(name: str) -> bytes:
    function = {"name": name, "arguments": json.dumps({"query": "Time?"})}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    return event(choices=[{"index": 0, "delta": {"tool_calls": [call]}}])


def spent(prompt: int) -> bytes:
    return event(choices=[], usage={"prompt_tokens": prompt, "completion_tokens": 1})


async def make(running: Service) -> None:
    """Create the application `outer`, which calls `inner`. The service is the model of both."""
    add, target = sync_to_async(make_application), sync_to_async(make_deployment)
    await target("up", provider="openai", base_url=running.url)
    for slug, tools in (("outer", [team(simple("inner"))]), ("inner", [])):
        orchestrator = {"deployment": {"deployment_id": "up"}, "system_prompt": PROMPT}
        manifest = {"orchestrator": orchestrator, "contexts": [], "tool_sets": tools}
        await add(slug, manifest=manifest, is_public=True)


SECONDS = re.compile(r"\[\d+\.\d\ds\]$")


@proves("7.3")
async def test_the_stages_of_the_inner_application_are_nested_on_the_wire():
    answers = (
        chunked(calling("inner"), finish("tool_calls"), spent(1), DONE),
        chunked(calling("internal_timeawareness_current_timestamp"), finish("tool_calls"), DONE),
        chunked(text("Noon"), finish(), spent(5), DONE),
        chunked(text("It is noon."), finish(), spent(7), DONE),
    )
    async with service(*answers) as running:
        await make(running)
        client = Client(router(), PATH, method="POST")
        await client.send(json.dumps(question()).encode())
        body = (await client.read()).json()

    message = body["choices"][0]["message"]
    assert message["content"] == "It is noon."
    assert [
        (SECONDS.sub("[s]", stage["name"]), stage["status"], stage.get("parent_stage_index"))
        for stage in message["custom_content"]["stages"]
    ] == [("Team · inner Time? [s]", "completed", None), ("Current time", "completed", 0)]
    assert body["usage"] == {"prompt_tokens": 13, "completion_tokens": 3, "total_tokens": 16}


async def test_a_client_that_goes_away_ends_the_question_of_the_inner_application():
    answers = (
        chunked(calling("inner"), finish("tool_calls"), DONE),
        [*chunked(text("Well."))[:2], HOLD],
    )
    async with service(*answers) as running:
        await make(running)
        client = Client(router(), PATH, method="POST")
        await client.send(json.dumps(question(stream=True)).encode())
        while b"Well." not in (await client.communicator.receive_output(60)).get("body", b""):
            pass
        await client.leave()
        await asyncio.wait_for(running.left.wait(), 60)
        await client.is_over()
