"""Requests for responses, from the bytes to the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.urls import re_path

from apps.accounts.models import ApiKey
from apps.agent.messages import ModelMessage, ToolCall
from apps.errors import BudgetReserved, BudgetSpent, ModelFailed
from apps.manifest.validation import validation
from apps.responses.consumers import ResponseConsumer
from apps.responses.dialect import ResponsesDialect
from apps.responses.requests import NOT_STORED
from tests.catalog.rows import manifest_with
from tests.contract import proves_feature
from tests.gateway.scripts import (
    Answer,
    Client,
    ScriptedModel,
    ScriptedWorkspace,
    add_application,
    calls,
    ends,
    says,
    unrecorded,
)
from tests.runs.prompts import context_of
from tests.tables import each_row

pytestmark = pytest.mark.django_db

LOOK = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}


async def ask(scripted: ScriptedModel, application: str = "", key: str = "", **body: Any) -> Answer:
    """Ask an application, by default a new one, for a response."""
    slug = application or (await add_application()).slug
    respond = ResponseConsumer.as_asgi(
        open_workspace=ScriptedWorkspace(scripted), recorded=unrecorded
    )
    client = Client(
        URLRouter([re_path("^v1/responses$", respond)]),
        "/v1/responses",
        method="POST",
        headers={"api-key": key} if key else {},
    )
    await client.send(json.dumps({"model": slug, "input": "Hi", **body}).encode())
    return await client.read()


def error_of(answer: Answer) -> tuple[int, dict[str, Any]]:
    return answer.status, answer.json()["error"]


def prepared(manifest: dict[str, Any] | None = None, **body: Any) -> Any:
    """Return the run that a request becomes."""
    application = context_of(validation.read_manifest(manifest) if manifest else None).application
    written = json.dumps({"input": "Hi", **body}).encode()
    return ResponsesDialect().read(written).prepare(application)


async def test_an_answer_is_given_whole():
    application = await add_application()
    model = ScriptedModel([says("Hel"), says("lo"), ends()])

    answer = await ask(model, application.slug, instructions="Be kind.", metadata={"a": "b"})

    written = answer.json()
    (item,) = written.pop("output")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert item["content"] == [
        {"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}
    ]
    assert written.pop("id").startswith("resp_")
    assert written.pop("created_at") <= written.pop("completed_at")
    assert written == {
        "object": "response",
        "status": "completed",
        "incomplete_details": None,
        "model": application.slug,
        "error": None,
        "usage": {
            "input_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 4,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 7,
        },
        "previous_response_id": None,
        "instructions": "Be kind.",
        "tools": [],
        "tool_choice": "auto",
        "truncation": "disabled",
        "parallel_tool_calls": True,
        "text": {"format": {"type": "text"}},
        "top_p": 1.0,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "top_logprobs": 0,
        "temperature": 1.0,
        "reasoning": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "store": False,
        "background": False,
        "service_tier": "default",
        "metadata": {"a": "b"},
        "safety_identifier": None,
        "prompt_cache_key": None,
        "user": None,
    }
    assert model.asked[0].messages[0].text.endswith("Be kind.")


async def test_an_answer_is_streamed_from_its_creation_to_its_completion():
    answer = await ask(ScriptedModel([says("Hi"), ends()]), stream=True)

    names = [
        line.removeprefix("event: response.")
        for line in answer.body.decode().split("\n")
        if line.startswith("event: ")
    ]
    assert names == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta", "output_text.done", "content_part.done"),
        *("output_item.done", "completed"),
    ]
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


async def test_the_clients_tool_is_called_and_its_result_answered():
    application = await add_application()
    asked = await ask(
        ScriptedModel(calls("look")),
        application.slug,
        tools=[LOOK],
        include=["reasoning.encrypted_content"],
    )
    given = asked.json()["output"]
    made = next(item for item in given if item["type"] == "function_call")
    result = {"type": "function_call_output", "call_id": made["call_id"], "output": "a cat"}
    model = ScriptedModel([says("A cat."), ends()])

    answer = await ask(
        model,
        application.slug,
        input=[{"role": "user", "content": "Look"}, *given, result],
        tools=[LOOK],
    )

    assert answer.status == 200
    assert model.asked[0].messages[-2:] == (
        ModelMessage("assistant", tool_calls=(ToolCall(made["call_id"], "look", "{}"),)),
        ModelMessage("tool", "a cat", tool_call_id=made["call_id"]),
    )


def test_parameters_are_those_of_chat_completions():
    schema = {"type": "object"}
    found = prepared(
        tools=[LOOK],
        tool_choice="required",
        parallel_tool_calls=False,
        temperature=0.5,
        top_p=0.4,
        max_output_tokens=9,
        top_logprobs=2,
        reasoning={"effort": "low", "summary": "auto"},
        text={"format": {"type": "json_schema", "name": "a", "schema": schema, "strict": True}, "verbosity": "low"},
    )  # fmt: skip

    request = found.request
    assert request.parameters == {
        "temperature": 0.5,
        "top_p": 0.4,
        "max_completion_tokens": 9,
        "parallel_tool_calls": False,
        "logprobs": True,
        "top_logprobs": 2,
        "reasoning_effort": "low",
        "verbosity": "low",
    }
    assert request.response_format == {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": schema, "strict": True},
    }
    assert (request.tool_choice, request.requires_client_tool) == ("required", True)
    assert found.ignored == frozenset()


def test_what_has_no_effect_is_named():
    found = prepared(
        model="gpt-x",
        tools=[{"type": "web_search"}],
        tool_choice={"type": "web_search"},
        parallel_tool_calls=True,
        truncation="auto",
        max_tool_calls=3,
        prompt_cache_key="k",
        user="u",
        metadata={"a": "b"},
        client_metadata={},
    )

    assert found.ignored == {
        *("model", "tools.web_search", "tool_choice", "parallel_tool_calls", "truncation"),
        *("max_tool_calls", "prompt_cache_key", "user", "metadata", "client_metadata"),
    }
    assert (found.request.external, found.request.tool_choice) == ({}, None)


def test_instructions_are_refused_where_the_manifest_forbids_them():
    manifest = manifest_with(
        orchestrator={"deployment": {"deployment_id": "gpt"}, "client": {"system_messages": False}}
    )
    said = [{"role": "developer", "content": "Be rude."}, {"role": "user", "content": "Hi"}]
    bodies: dict[str, Any] = {
        "instructions": {"instructions": "Be rude."},
        "input": {"input": said},
    }

    for field, body in bodies.items():
        with pytest.raises(
            Exception, match=f"path {field}. This application does not accept instructions"
        ):
            prepared(manifest, **body)


@each_row(
    ("body", "field"),
    [
        ({"input": None}, "input"),
        ({"input": 7}, "input"),
        ({"input": ["Hi"]}, "input.0"),
        ({"model": ""}, "model"),
        ({"tools": [{"type": "function"}]}, "tools.0"),
        ({"temperature": 3}, "temperature"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"background": True}, "background"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
    ],
)
async def test_a_refused_request_names_its_field(body, field):
    status, error = error_of(await ask(ScriptedModel(), **body))

    assert (status, error["type"], error["param"], error["code"]) == (
        400,
        "invalid_request_error",
        field,
        None,
    )


async def test_what_is_not_stored_says_so():
    status, error = error_of(await ask(ScriptedModel(), previous_response_id="resp_1"))

    assert (status, error["message"].endswith(NOT_STORED)) == (400, True)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"input": "\xff"}', b'{"input": "\\ud800"}'])
async def test_a_body_that_cannot_be_read_is_400(body):
    client = Client(
        URLRouter([re_path("^v1/responses$", ResponseConsumer.as_asgi())]),
        "/v1/responses",
        method="POST",
    )
    await client.send(body)

    answer = await client.read()

    assert (answer.status, answer.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_an_unknown_application_is_404():
    _, key = await sync_to_async(ApiKey.objects.create_key)(name="test")

    status, error = error_of(await ask(ScriptedModel(), "nothing-here", key))

    assert (status, error["code"]) == (404, "DeploymentNotFound")


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (BudgetSpent("Spent.", 9_000), 403, "insufficient_quota"),
        (BudgetReserved("Reserved.", 2), 429, "rate_limit_exceeded"),
        (ModelFailed("slow down", status=429), 429, "rate_limit_exceeded"),
    ],
)
async def test_only_limits_that_pass_look_like_it(failure, status, code):
    answer = await ask(ScriptedModel(*[[failure]] * 8))

    assert (answer.status, answer.json()["error"]["code"]) == (status, code)


@proves_feature("responses", "errors")
async def test_a_failure_in_the_middle_ends_the_stream_in_its_form():
    answer = await ask(ScriptedModel([says("Well"), ModelFailed("broken")]), stream=True)

    events = [event for event in answer.body.decode().split("\n\n") if event]
    assert answer.status == 200
    assert events[-1].startswith("event: response.failed")
    assert json.loads(events[-1].split("data: ")[1])["response"]["error"]["code"] == "server_error"
