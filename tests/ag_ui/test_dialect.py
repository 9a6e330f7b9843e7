"""Requests for runs, from the bytes to the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.ag_ui.dialect import AgUiDialect
from apps.errors import BudgetSpent, ModelFailed
from apps.manifest.validation import validation
from tests.ag_ui.threads import QUESTION, ask, events_in, named, post, run_input, thread_after
from tests.catalog.rows import manifest_with
from tests.contract import proves_feature
from tests.gateway.scripts import (
    ScriptedModel,
    ScriptedWorkspace,
    add_application,
    calls,
    ends,
    says,
)
from tests.runs.prompts import context_of
from tests.tables import each_row

pytestmark = pytest.mark.django_db

LOOK = {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}


def prepared(manifest: dict[str, Any] | None = None, **fields: Any) -> Any:
    """Return the run that a request becomes."""
    application = context_of(validation.read_manifest(manifest) if manifest else None).application
    return AgUiDialect().read(json.dumps(run_input(**fields)).encode()).prepare(application)


@proves_feature("ag-ui", "text")
async def test_an_answer_is_a_stream_of_events():
    answer = await ask(ScriptedWorkspace(ScriptedModel([says("Hello"), ends()])))

    assert (answer.status, answer.headers["content-type"]) == (
        200,
        "text/event-stream; charset=utf-8",
    )
    found = events_in(answer.body)
    assert [event["type"] for event in found] == [
        *("RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
        "RUN_FINISHED",
    ]
    assert (found[-1]["threadId"], found[-1]["runId"]) == ("t", "r")


@proves_feature("ag-ui", "client tools")
async def test_a_tool_of_the_client_is_called_and_its_result_continues_the_thread():
    model = ScriptedModel([calls("look")], [says("Rain."), ends()])
    workspace, slug = ScriptedWorkspace(model), (await add_application()).slug

    first = events_in((await ask(workspace, slug, tools=[LOOK], protocolVersion="1.0")).body)
    thread = [*run_input()["messages"], *thread_after(first)]
    result = {"id": "x", "role": "tool", "toolCallId": "call-1", "content": "Wet"}
    last = await ask(workspace, slug, tools=[LOOK], messages=[*thread, result], runId="r2")

    assert first[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["call-1"]}
    assert named(events_in(last.body), "TEXT_MESSAGE_CONTENT") == [{"delta": "Rain."}]
    results = [m.text for m in model.asked[-1].messages if m.role == "tool"]
    assert results[-1] == "Wet"  # the text of a skill is the previous one


def test_context_and_what_is_on_the_screen_come_before_the_question():
    found = prepared(
        messages=[
            {"id": "1", "role": "system", "content": "Be kind."},
            {"id": "2", "role": "user", "content": "Hi"},
        ],
        context=[{"description": "Page", "value": "Prices"}],
        forwardedProps={"narrative": "a table", "colour": "red"},
        state={"a": 1},
        tools=[LOOK],
        later=True,
    )

    [message] = found.request.messages
    assert message.text == (
        "[Context from the user's program:\nPage: Prices]\n\n[The person looks at: a table]\n\nHi"
    )
    assert found.request.instructions == "Be kind."
    assert [*found.request.external] == ["look"]
    assert found.ignored == {"state", "forwardedProps.colour", "later"}


def test_instructions_are_refused_where_the_manifest_forbids_them():
    client = {"system_messages": False}
    manifest = manifest_with(
        orchestrator={"deployment": {"deployment_id": "gpt"}, "client": client}
    )

    with pytest.raises(
        Exception, match=r"path messages\. This application does not accept instructions"
    ):
        prepared(manifest, messages=[{"id": "1", "role": "system", "content": "Be rude."}])


@each_row(
    ("fields", "place"),
    [
        ({"messages": []}, "messages. Send at least one message."),
        ({"messages": "Hi"}, "messages. "),
        ({"messages": [{"id": "1", "role": "critic", "content": "x"}]}, "messages.0.role. "),
        ({"messages": [{"id": "1", "role": "tool", "content": "x"}]}, "tool_call_id"),
        ({"messages": [{"id": "1", "role": "user", "content": {"a": 1}}]}, "messages.0.content. "),
        ({"threadId": ""}, "threadId. "),
        ({"runId": "x" * 1_001}, "runId. "),
        ({"runId": None}, "runId. "),
        ({"tools": [LOOK, LOOK]}, "tools.1.name. Two tools are named 'look'. Rename one."),
        ({"tools": [{**LOOK, "name": ""}]}, "tools.0.name. "),
        ({"tools": [{**LOOK, "parameters": "x"}]}, "tools.0.parameters. "),
        ({"context": [{"value": 1}]}, "context.0"),
        ({"resume": [{"interruptId": "x", "status": "maybe"}]}, "resume.0.status. "),
        ({"resume": [{"interruptId": "x", "status": "resolved"}]}, "has no open interrupt"),
        ({"forwardedProps": {"narrative": 1}}, "forwardedProps.narrative. "),
    ],
)
async def test_a_refused_request_names_its_field(fields, place):
    answer = await ask(ScriptedWorkspace(ScriptedModel()), **fields)

    assert answer.status == 400
    assert place in answer.json()["error"]["message"]


@each_row(
    ("body", "problem"),
    [
        (b"", "isn't valid JSON"),
        (b"[]", "Expected `object`"),
        (b'{"threadId": "\xff"}', "isn't valid JSON"),
        (b'{"threadId": "t", "runId": "r", "messages": [{}]}', "missing required field `role`"),
        (
            json.dumps(run_input(forwardedProps=json.loads("[" * 200 + "]" * 200))).encode(),
            "nested deeper than",
        ),
    ],
)
async def test_a_hostile_body_is_a_bad_request(body, problem):
    slug = (await add_application()).slug

    answer = await post(ScriptedWorkspace(ScriptedModel()), slug, body)

    assert answer.status == 400
    assert problem in answer.json()["error"]["message"]


async def test_too_many_messages_are_refused(settings):
    settings.GATEWAY_MAX_MESSAGES = 1

    answer = await ask(ScriptedWorkspace(ScriptedModel()), messages=[QUESTION, QUESTION])

    assert answer.status == 400
    assert "The request has 2 messages; the limit is 1." in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (BudgetSpent("Spent.", 9_000), 429, "insufficient_quota"),
        (ModelFailed("broken"), 500, "500"),
    ],
)
async def test_a_failure_before_the_stream_has_a_status(failure, status, code):
    answer = await ask(ScriptedWorkspace(ScriptedModel(*[[failure]] * 8)))

    assert (answer.status, answer.json()["error"]["code"]) == (status, code)


async def test_a_failure_in_the_middle_ends_the_stream_with_an_error():
    answer = await ask(ScriptedWorkspace(ScriptedModel([says("Well"), ModelFailed("broken")])))

    kinds = [event["type"] for event in events_in(answer.body)]
    assert (answer.status, kinds[-2:]) == (200, ["TEXT_MESSAGE_END", "RUN_ERROR"])


async def test_an_unknown_application_is_not_found():
    answer = await ask(ScriptedWorkspace(ScriptedModel()), "nothing-here")

    assert answer.status in (401, 404)
    assert answer.json()["error"]["code"]
