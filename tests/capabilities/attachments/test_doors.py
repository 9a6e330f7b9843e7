"""Clients of the gateway send attachments to a service that speaks OpenAI's protocol."""

import base64
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.accounts.models import ApiKey
from apps.workspace.local.files.caller_files import LocalFiles
from tests.capabilities.attachments.conversations import PNG
from tests.capabilities.manifests import PROMPT
from tests.catalog.rows import make_application, make_deployment
from tests.contract import proves
from tests.gateway.scripts import Answer, Client, router
from tests.workspace.openai.service import (
    DONE,
    Service,
    answer,
    chunked,
    event,
    finish,
    service,
    text,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

PATH = "/openai/deployments/reader/chat/completions"
WELL = chunked(text("Well."), finish(), DONE)
REFUSAL = answer("400 Bad Request", b'{"error": {"message": "no such file type"}}')
TOOL = "internal_attachments_get_content"


async def make(running: Service, types: tuple[str, ...] = (), **orchestrator: Any) -> None:
    """Create the application `reader`, whose model is the service."""
    add, target = sync_to_async(make_application), sync_to_async(make_deployment)
    await target("up", provider="openai", base_url=running.url, input_attachment_types=list(types))
    manifest = {
        "orchestrator": {
            "deployment": {"deployment_id": "up"},
            "system_prompt": PROMPT,
            **orchestrator,
        },
        "contexts": [],
        "tool_sets": [],
        "features": {"timestamp": None},
    }
    await add("reader", manifest=manifest, is_public=True)


async def ask(*attachments: dict[str, str], key: str = "") -> Answer:
    headers = {"Api-Key": key} if key else {}
    client = Client(router(), PATH, method="POST", headers=headers)
    message = {
        "role": "user",
        "content": "Look",
        "custom_content": {"attachments": list(attachments)},
    }
    await client.send(json.dumps({"messages": [message]}).encode())
    return await client.read()


async def key_with(name: str, content: bytes, content_type: str) -> tuple[str, str]:
    """Return a key, and the path of a file that belongs to it."""
    row, key = await sync_to_async(ApiKey.objects.create_key)(name="test")
    info = await LocalFiles(f"key-{row.prefix}").keep(name, content, content_type)
    return key, info.path


@proves("11")
async def test_a_picture_reaches_the_model_as_a_picture():
    key, path = await key_with("cat.png", PNG, "image/png")
    async with service(WELL) as running:
        await make(running)
        reply = await ask({"type": "image/png", "title": "Cat", "url": path}, key=key)

    assert reply.status == 200, reply.body
    (_, body) = running.requests[0]
    data = base64.b64encode(PNG).decode()
    assert body["messages"][1] == {
        "role": "user",
        "content": [
            {
                "type": "text",
                "text": "Look\n<attachments>\n  <attachment>\n    <title>Cat</title>\n"
                f"    <type>image/png</type>\n    <url>{path}</url>\n"
                "  </attachment>\n</attachments>",
            },
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        ],
    }


@proves("11")
async def test_a_document_is_told_in_words():
    async with service(WELL) as running:
        await make(running)
        paper = {"type": "application/pdf", "title": "Terms", "url": "files/x/terms.pdf"}
        reply = await ask(paper)

    assert reply.status == 200, reply.body
    assert running.requests[0][1]["messages"][1] == {
        "role": "user",
        "content": "Look\n<attachments>\n  <attachment>\n    <title>Terms</title>\n"
        "    <type>application/pdf</type>\n    <url>files/x/terms.pdf</url>\n"
        "  </attachment>\n</attachments>",
    }


@proves("11")
@pytest.mark.usefixtures("nothing_predefined")
async def test_a_document_that_the_model_refuses_is_taken_back_once():
    key, path = await key_with("terms.pdf", b"%PDF-1", "application/pdf")
    types = ("application/pdf",)
    async with service(REFUSAL, WELL) as running:
        await make(running, types, attachment_strategy={"type": "lazy_on_demand"})
        paper = {"type": "application/pdf", "title": "Terms", "url": path}
        reply = await ask(paper, key=key)

    assert reply.status == 200, reply.body
    first, second = (body["messages"] for _, body in running.requests)
    assert first[-1]["content"][1] == {
        "type": "file",
        "file": {"filename": "Terms", "file_data": "data:application/pdf;base64,JVBERi0x"},
    }
    assert [message["role"] for message in second] == ["system", "user", "assistant", "tool"]
    assert second[-1]["content"].startswith("Error: the model does not accept this attachment")
    assert reply.json()["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Well.",
        "annotations": [],
        "refusal": None,
        "custom_content": {"state": {"tool_execution_history": []}},
    }


@proves("11")
async def test_a_second_refusal_is_told():
    key, path = await key_with("terms.pdf", b"%PDF-1", "application/pdf")
    async with service(REFUSAL, REFUSAL) as running:
        await make(running, ("*/*",), attachment_strategy={"type": "lazy_on_demand"})
        reply = await ask({"type": "application/pdf", "title": "Terms", "url": path}, key=key)

    assert (reply.status, len(running.requests)) == (400, 2)


@pytest.mark.usefixtures("nothing_predefined")
async def test_the_model_asks_for_a_picture_and_gets_it_behind_the_result():
    key, path = await key_with("cat.png", PNG, "image/png")
    function = {"name": TOOL, "arguments": json.dumps({"attachment_url": path})}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    asking = event(choices=[{"index": 0, "delta": {"tool_calls": [call]}}])
    async with service(chunked(asking, finish("tool_calls"), DONE), WELL) as running:
        await make(running, ("image/*",), attachment_strategy={"type": "lazy_on_demand"})
        reply = await ask({"type": "image/png", "title": "Cat", "url": path}, key=key)

    assert reply.status == 200, reply.body
    messages = running.requests[1][1]["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "user", "assistant", "tool", "user"]
    assert messages[-1]["content"][1]["type"] == "image_url"
    assert [tool["function"]["name"] for tool in running.requests[1][1]["tools"]] == [TOOL]
