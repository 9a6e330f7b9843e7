"""Tool calls, from the bytes to the answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from apps.agent.events import AttachmentAdded
from apps.agent.messages import Attachment
from apps.agent.model import StagePart
from apps.errors import ModelFailed
from tests.catalog.rows import manifest_with
from tests.contract import proves_feature
from tests.gateway.scripts import PATIENCE, ScriptedModel, add_application, calls, ends, says
from tests.mcp_server.scripts import (
    FORMS,
    HANDSHAKE,
    MODERN,
    call,
    error_of,
    messages_of,
    open_request,
    request,
    result_of,
    site,
)
from tests.tables import each_row

pytestmark = pytest.mark.django_db

HELLO = {
    "content": [{"type": "text", "text": "Hello"}],
    "structuredContent": {
        "text": "Hello",
        "finish_reason": "stop",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    },
    "isError": False,
}
QUESTION = {
    "question": "Who?",
    "input_type": "single-select",
    "options": [{"label": "Ann"}, {"label": "Bob"}],
    "allow_freeform": False,
}


async def add_asking_application() -> Any:
    manifest = manifest_with(
        orchestrator={"deployment": {"deployment_id": "scripted"}},
        features={"timestamp": None, "questions": {}},
    )
    return await add_application(manifest=manifest)


def asking_model() -> ScriptedModel:
    asked = calls("internal_ask_question", json.dumps(QUESTION))
    return ScriptedModel(asked, [says("Hello"), ends()])


@proves_feature("mcp", "text", "usage")
@each_row("revision", [MODERN, HANDSHAKE])
async def test_a_call_is_answered_in_both_revisions(revision):
    application = await add_application()
    routes = site(ScriptedModel([says("Hel"), says("lo"), ends()]))

    answer = await request(routes, "tools/call", call(application.slug), revision=revision)

    result = result_of(answer)
    assert {name: result[name] for name in HELLO} == HELLO


@proves_feature("mcp", "files out")
async def test_attachments_are_content_of_their_kind():
    application = await add_application()
    given = [
        Attachment("image/png", "dot", data="AAAA"),
        Attachment("audio/wav", "tick", data="BBBB"),
        Attachment("application/pdf", "paper", data="CCCC", reference_url="https://a.test/p"),
        Attachment("text/markdown", "note", data="*Hi*"),
        Attachment("application/pdf", "book", url="files/key-1/book.pdf"),
    ]
    model = ScriptedModel([*map(AttachmentAdded, given), ends()])

    answer = await request(site(model), "tools/call", call(application.slug))

    found = [
        (block["type"], block.get("data") or block.get("uri") or block["resource"])
        for block in result_of(answer)["content"]
    ]
    assert found == [
        ("image", "AAAA"),
        ("audio", "BBBB"),
        ("resource", {"uri": "https://a.test/p", "mimeType": "application/pdf", "blob": "CCCC"}),
        ("resource", {"uri": "attachment:4", "mimeType": "text/markdown", "text": "*Hi*"}),
        ("resource_link", "quickapps://files/key-1/book.pdf"),
    ]


async def test_stages_are_progress():
    application = await add_application()
    steps = [StagePart(0, "Search", failed=False), StagePart(1, "Read", failed=True)]
    params = call(application.slug, _meta={"progressToken": "p"})

    answer = await request(
        site(ScriptedModel([*steps, says("Hello"), ends()])), "tools/call", params
    )

    *progress, _ = messages_of(answer)
    assert [one["params"] for one in progress] == [
        {"progressToken": "p", "progress": number, "message": line}
        for number, line in enumerate(["Search", "Search: done", "Read", "Read: failed"], start=1)
    ]


@proves_feature("mcp", "errors")
async def test_a_failure_is_a_result_that_the_model_of_the_client_reads():
    application = await add_application()
    routes = site(ScriptedModel([ModelFailed("down", status=429, retry_after=7)]))

    result = result_of(await request(routes, "tools/call", call(application.slug)))

    assert result["isError"] is True
    assert result["_meta"]["quickapps/error"]["status"] == 429


@proves_feature("mcp", "files in")
async def test_files_reach_the_application():
    application = await add_application()
    model = ScriptedModel([says("Hello"), ends()])
    files = [
        {"type": "text/plain", "name": "a.txt", "data": "SGk="},
        {"type": "image/png", "uri": "quickapps://files/key-1/b.png"},
    ]
    params = {"name": application.slug, "arguments": {"message": "Read", "files": files}}

    answer = await request(site(model), "tools/call", params)

    assert result_of(answer)["isError"] is False
    assert "a.txt" in str(model.asked[0].messages)


@each_row(
    ["arguments", "problem"],
    [
        ({}, "on path arguments. Object missing required field `message`."),
        ({"message": 3}, "on path arguments.message. Expected `str`, got `int`."),
        ({"message": " "}, "on path arguments.message. The message is empty. Enter some text."),
        ({"message": "a", "b": 1}, "on path arguments. Object contains unknown field `b`."),
        (
            {"message": "a", "files": [{"type": "text/plain", "data": "?"}]},
            "on path arguments.files.0.data. The content is not valid base64.",
        ),
        (
            {"message": "a", "files": [{"type": "text/plain"}]},
            "on path arguments.files.0. Send 'data' or 'uri'.",
        ),
        (
            {"message": "a", "files": [{"type": "a/b", "uri": "file:///etc/passwd"}]},
            "on path arguments.files.0.uri. Use an http(s) URL, or a URI of the form "
            "quickapps://files/{bucket}/{+name}.",
        ),
    ],
)
async def test_wrong_arguments_are_named_by_their_path(arguments, problem):
    application = await add_application()
    params = {"name": application.slug, "arguments": arguments}

    result = result_of(await request(site(), "tools/call", params))

    text = f"Your request contained invalid structure {problem}"
    assert (result["isError"], result["content"][0]["text"]) == (True, text)


@each_row("name", ["nobody", "nobody@3", "a\0b", "../x", "x" * 5000, ""])
async def test_a_missing_tool_is_unknown(name):
    status, error = error_of(await request(site(), "tools/call", call(name)))

    assert (status, error["code"]) == (400, -32602)
    assert error["message"].startswith("Unknown tool: '")


async def test_a_tool_that_the_caller_may_not_use_is_unknown():
    private = await add_application(is_public=False, is_shared=False)

    _, error = error_of(await request(site(), "tools/call", call(private.slug)))

    assert error == {"code": -32602, "message": f"Unknown tool: '{private.slug}'."}


@each_row(
    ["body", "code"],
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"a": "\\ud800x"}', -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"[" * 80 + b"]" * 80, -32600),
    ],
)
async def test_a_body_that_is_no_request_is_refused(body, code):
    status, error = error_of(await request(site(), "tools/list", body=body))

    assert (status, error["code"]) == (400, code)


async def test_a_huge_body_is_refused(settings):
    settings.GATEWAY_MAX_BODY_BYTES = 1000

    status, error = error_of(await request(site(), "tools/list", body=b" " * 1001))

    assert (status, error["code"]) == (413, -32600)
    assert error["message"] == "The request is too large; the limit is 1,000 bytes."


async def test_whitespace_around_the_name_of_the_header_is_ignored():
    application = await add_application()
    routes = site(ScriptedModel([says("Hello"), ends()]))
    headers = {"mcp-name": f" {application.slug}\t"}

    answer = await request(routes, "tools/call", call(application.slug), headers=headers)

    assert result_of(answer)["content"] == HELLO["content"]


@proves_feature("mcp", "limits")
async def test_an_answer_reports_the_rest_of_its_rate_limit():
    limited = manifest_with(features={"rate_limits": {"requests_per_minute": 1}})
    application = await add_application(manifest=limited)
    routes, asking = site(ScriptedModel([says("Hello"), ends()])), call(application.slug)

    answers = [await request(routes, "tools/call", asking) for _ in range(2)]

    names = ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests")
    assert [[answer.headers[name] for name in names] for answer in answers] == [["1", "0"]] * 2
    assert "retry-after" in answers[1].headers
    assert result_of(answers[1])["_meta"]["quickapps/error"]["status"] == 429


@proves_feature("mcp", "cancel")
@each_row("revision", [MODERN, HANDSHAKE])
async def test_a_client_that_leaves_cancels_the_run(revision):
    application = await add_application()
    model = ScriptedModel([says("Well"), asyncio.Event()])
    client = await open_request(
        site(model), "tools/call", call(application.slug), revision=revision
    )
    await model.was_asked.wait()

    await client.leave()

    await client.is_over()
    async with asyncio.timeout(PATIENCE):
        await model.was_cancelled.wait()


# --- Questions --------------------------------------------------------------------------------


@proves_feature("mcp", "questions")
async def test_a_question_is_asked_and_its_answer_resumes_the_run(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    application, model = await add_asking_application(), asking_model()
    routes, asking = site(model), call(application.slug)
    asked = result_of(await request(routes, "tools/call", asking, capabilities=FORMS))
    state = asked["requestState"]
    given = {"answer": {"action": "accept", "content": {"choice": "2"}}}

    again = await request(
        routes,
        "tools/call",
        {**asking, "requestState": state, "inputResponses": given},
        capabilities=FORMS,
    )

    form = asked["inputRequests"]["answer"]["params"]
    options = [{"const": "1", "title": "Ann"}, {"const": "2", "title": "Bob"}]
    choice = {"type": "string", "title": "Choice", "oneOf": options}
    assert form == {
        "mode": "form",
        "message": "Who?",
        "requestedSchema": {
            "type": "object",
            "properties": {"choice": choice},
            "required": ["choice"],
        },
    }
    assert result_of(again)["content"] == HELLO["content"]
    assert model.asked[-1].messages[-1].text == 'The user chose: "Bob"'


async def test_a_client_without_the_answer_is_asked_again(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    application = await add_asking_application()
    routes, asking = site(asking_model()), call(application.slug)
    asked = result_of(await request(routes, "tools/call", asking, capabilities=FORMS))

    again = await request(
        routes,
        "tools/call",
        {**asking, "requestState": asked["requestState"], "inputResponses": {}},
        capabilities=FORMS,
    )

    assert result_of(again)["inputRequests"] == asked["inputRequests"]


@each_row(
    ("content", "problem"),
    [
        (None, "inputResponses.answer.content: 'choice' is a required property."),
        ({}, "inputResponses.answer.content: 'choice' is a required property."),
        (
            {"choice": "2", "other": "x"},
            "inputResponses.answer.content: Additional properties are not allowed: 'other'.",
        ),
        ({"choice": "9"}, "inputResponses.answer.content.choice: '9' is not valid under any"),
        ({"choice": 2}, "inputResponses.answer.content.choice: 2 is not of type 'string'."),
    ],
)
async def test_an_answer_that_the_form_does_not_allow_leaves_the_question_open(
    settings, content, problem
):
    settings.ENABLE_PREVIEW_FEATURES = True
    application, model = await add_asking_application(), asking_model()
    routes, asking = site(model), call(application.slug)
    asked = result_of(await request(routes, "tools/call", asking, capabilities=FORMS))
    state = {**asking, "requestState": asked["requestState"]}
    wrong = {"action": "accept", **({} if content is None else {"content": content})}
    right = {"action": "accept", "content": {"choice": "2"}}

    refused = await request(
        routes, "tools/call", {**state, "inputResponses": {"answer": wrong}}, capabilities=FORMS
    )
    calls = len(model.asked)
    answered = await request(
        routes, "tools/call", {**state, "inputResponses": {"answer": right}}, capabilities=FORMS
    )

    status, error = error_of(refused)
    assert (status, error["code"], calls) == (400, -32602, 1)
    assert error["message"].startswith(problem)
    assert result_of(answered)["content"] == HELLO["content"]


async def test_a_changed_state_is_refused(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    application = await add_asking_application()
    routes, asking = site(asking_model()), call(application.slug)
    asked = result_of(await request(routes, "tools/call", asking, capabilities=FORMS))
    state = asked["requestState"]
    other = call(application.slug, "Another message")

    for params in (
        {**asking, "requestState": f"{state[:-4]}AAAA"},
        {**asking, "requestState": f"{state}-changed"},
        {**other, "requestState": state},
    ):
        status, error = error_of(await request(routes, "tools/call", params, capabilities=FORMS))
        assert (status, error["message"]) == (400, "Invalid or expired requestState")


async def test_a_client_that_shows_no_forms_is_asked_nothing(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    application, model = await add_asking_application(), ScriptedModel([says("Hello"), ends()])

    await request(site(model), "tools/call", call(application.slug))

    assert not [tool for tool in model.asked[0].tools if "ask" in tool.name]
