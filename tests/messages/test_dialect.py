"""Requests for messages, from the bytes to the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.urls import re_path

from apps.accounts.models import ApiKey
from apps.errors import BudgetReserved, BudgetSpent, ModelFailed
from apps.manifest.validation import validation
from apps.messages.consumers import MessageConsumer
from apps.messages.dialect import MessagesDialect
from apps.messages.routing import urlpatterns
from quickapps_site.asgi import application as site
from tests.catalog.rows import manifest_with
from tests.contract import proves_feature
from tests.gateway.scripts import (
    Answer,
    Client,
    ScriptedModel,
    ScriptedWorkspace,
    add_application,
    ends,
    says,
    unrecorded,
)
from tests.runs.prompts import context_of
from tests.tables import each_row

pytestmark = pytest.mark.django_db

QUESTION = [{"role": "user", "content": "Hi"}]
LOOK = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


async def ask(scripted: ScriptedModel, application: str = "", key: str = "", **body: Any) -> Answer:
    """Ask an application, by default a new one, for a message."""
    slug = application or (await add_application()).slug
    consumer = MessageConsumer.as_asgi(
        open_workspace=ScriptedWorkspace(scripted), recorded=unrecorded
    )
    router = URLRouter([re_path("^v1/messages$", consumer)])
    headers = {"x-api-key": key} if key else {}
    client = Client(router, "/v1/messages", method="POST", headers=headers)
    written = {"model": slug, "max_tokens": 9, "messages": QUESTION, **body}
    given = {name: value for name, value in written.items() if value != "absent"}
    await client.send(json.dumps(given).encode())
    return await client.read()


def prepared(manifest: dict[str, Any] | None = None, **body: Any) -> Any:
    """Return the run that a request becomes."""
    application = context_of(validation.read_manifest(manifest) if manifest else None).application
    written = json.dumps({"messages": QUESTION, "max_tokens": 9, **body}).encode()
    return MessagesDialect().read(written).prepare(application)


async def test_an_answer_is_given_whole_and_streamed():
    application = await add_application()

    whole = await ask(ScriptedModel([says("Hello"), ends()]), application.slug)
    stream = await ask(ScriptedModel([says("Hello"), ends()]), application.slug, stream=True)

    written = whole.json()
    assert (whole.status, written["model"], written["stop_reason"]) == (
        200,
        application.slug,
        "end_turn",
    )
    assert written["content"] == [{"type": "text", "text": "Hello", "citations": None}]
    names = [line[7:] for line in stream.body.decode().split("\n") if line.startswith("event: ")]
    assert names == [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop"),
    ]
    assert "request-id" in whole.headers
    assert "request-id" in stream.headers


def test_parameters_are_those_of_chat_completions():
    schema = {"type": "object"}
    found = prepared(
        tools=[LOOK],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
        temperature=0.5,
        top_p=0.4,
        stop_sequences=["x"],
        output_config={"effort": "max", "format": {"type": "json_schema", "schema": schema}},
    )

    request = found.request
    assert request.parameters == {
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.4,
        "stop": ["x"],
        "parallel_tool_calls": False,
    }
    assert request.response_format == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": True},
    }
    assert (request.tool_choice, request.requires_client_tool) == ("required", True)
    assert (request.chat.effort, found.ignored) == ("high", frozenset())


def test_what_has_no_effect_is_named():
    found = prepared(
        tools=[{"type": "web_search_20250305", "name": "web_search"}],
        top_k=5,
        metadata={"user_id": "{}"},
        context_management={},
        system=[{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
    )

    assert found.ignored == {"tools.web_search_20250305", "top_k", "user", "context_management"}
    assert (found.request.instructions, found.request.external) == ("Be kind.", {})


def test_instructions_are_refused_where_the_manifest_forbids_them():
    client = {"system_messages": False}
    manifest = manifest_with(
        orchestrator={"deployment": {"deployment_id": "gpt"}, "client": client}
    )

    with pytest.raises(
        Exception, match=r"path system\. This application does not accept instructions"
    ):
        prepared(manifest, system="Be rude.")


@each_row(
    ("body", "place"),
    [
        ({"max_tokens": "absent"}, "`max_tokens`"),
        ({"messages": []}, "messages. "),
        ({"messages": "Hi"}, "messages. "),
        ({"model": ""}, "model. "),
        ({"messages": [{"role": "critic", "content": "x"}]}, "messages.0.role. "),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0. "),
        ({"tools": [{"name": "x"}]}, "tools.0. "),
        ({"tools": [LOOK, LOOK]}, "tools.1.name. "),
        ({"tool_choice": {"type": "tool", "name": "x"}}, "tool_choice.name. "),
        ({"tool_choice": {"type": "maybe"}}, "tool_choice. "),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format. "),
    ],
)
async def test_a_refused_request_names_its_field(body, place):
    answer = await ask(ScriptedModel(), **body)

    error = answer.json()
    assert (answer.status, error["type"]) == (400, "error")
    assert error["error"]["type"] == "invalid_request_error"
    assert place in error["error"]["message"]


@pytest.mark.parametrize(
    ("failure", "status", "kind"),
    [
        (BudgetSpent("Spent.", 9_000), 403, "permission_error"),
        (BudgetReserved("Reserved.", 2), 429, "rate_limit_error"),
        (ModelFailed("broken"), 500, "api_error"),
    ],
)
async def test_only_limits_that_pass_look_like_it(failure, status, kind):
    answer = await ask(ScriptedModel(*[[failure]] * 8))

    assert (answer.status, answer.json()["error"]["type"]) == (status, kind)


@proves_feature("messages", "errors")
async def test_a_failure_in_the_middle_ends_the_stream_with_an_error():
    answer = await ask(ScriptedModel([says("Well"), ModelFailed("broken")]), stream=True)

    last = answer.body.decode().strip().split("\n\n")[-1]
    assert last.startswith("event: error\n")
    assert json.loads(last.split("data: ")[1])["error"]["type"] == "api_error"


async def test_tokens_are_counted_for_applications_that_the_caller_may_use():
    application = await add_application()
    _, key = await sync_to_async(ApiKey.objects.create_key)(name="test")

    async def count(slug: str, **body: Any) -> Answer:
        client = Client(
            URLRouter(urlpatterns),
            "/v1/messages/count_tokens",
            method="POST",
            headers={"x-api-key": key},
        )
        await client.send(json.dumps({"model": slug, "messages": QUESTION, **body}).encode())
        return await client.read()

    few, more = await count(application.slug), await count(application.slug, tools=[LOOK])

    assert few.json()["input_tokens"] < more.json()["input_tokens"]
    assert (await count("nothing-here")).json()["error"]["type"] == "not_found_error"
    assert (await count("")).status == 400


@pytest.mark.parametrize(
    ("headers", "kind"), [({"anthropic-version": "2023-06-01"}, "model"), ({}, None)]
)
async def test_models_are_listed_in_the_form_of_the_client(headers, kind):
    application = await add_application(title="Weather")
    client = Client(site, "/v1/models", headers=headers)
    await client.send()

    entry = next(
        one for one in (await client.read()).json()["data"] if one["id"] == application.slug
    )

    assert (entry.get("type"), entry["display_name"]) == (kind, "Weather")
