"""If a server repeats its requests, the credentials in them are hidden."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from apps.accounts.caller import Caller, ClientInfo
from apps.agent.events import Event
from apps.agent.tools import Tool
from apps.capabilities.mcp.messages.redaction import SentCredentials
from apps.errors import ToolError
from apps.workspace.egress.headers import basic
from apps.workspace.local.models import Secret
from tests.capabilities.manifests import Files, stage_text, use
from tests.capabilities.mcp.desk import answering, named, opened_desk
from tests.capabilities.mcp.servers import ECHOING, nothing_left_over, over_http, serving_apart
from tests.capabilities.service import Reply, serving
from tests.contract import proves

MARK = "sk-marked-0123456789"
FORWARDED = "sk-forwarded-0123456789"
ENCODED = basic("me", MARK).partition(" ")[2]
CALLER = Caller("user-7", client=ClientInfo(headers={"X-Api-Key": FORWARDED, "X-Trace": "t-1"}))


@pytest.fixture(scope="module", params=["http", "sse"])
def toolset(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    protocol = "sse" if request.param == "sse" else "streamable_http"
    with serving_apart(request.param, ECHOING) as url:
        yield over_http(
            url,
            protocol,
            forward_headers=["X-Api-Key", "X-Trace"],
            resources={"enabled": True, "items": [{"uri": "echo://last"}]},
            attachment={"supported_types": ["text/*"]},
        )


def asking(toolset: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    return {**toolset, "mcp_server_info": {**toolset["mcp_server_info"], "authorization": how}}


async def said_by(tool: Tool, events: list[Event], **arguments: Any) -> str:
    """Return the text for the model."""
    try:
        return (await use(tool, events.append, **arguments)).content
    except ToolError as error:
        return str(error)


@proves("9.1")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("how", "shown"),
    [
        ({"type": "bearer", "token": MARK}, "authorization=Bearer [hidden]"),
        ({"type": "bearer", "token": {"$secret": "desk"}}, "authorization=Bearer [hidden]"),
        ({"type": "basic", "username": "me", "password": MARK}, "authorization=Basic [hidden]"),
        ({"type": "api_key", "name": "X-Desk", "key": MARK}, "x-desk=[hidden]"),
    ],
)
async def test_what_a_server_repeats_is_shown_without_credentials(toolset, how, shown, caplog):
    caplog.set_level(logging.DEBUG)
    url = toolset["mcp_server_info"]["url"]
    await Secret.objects.acreate(name="desk", value=MARK, servers=[url.rpartition("/")[0]])
    files, events = Files(), list[Event]()

    async with (
        nothing_left_over(),
        opened_desk(asking(toolset, how), caller=CALLER, files=files) as contribution,
    ):
        assert contribution.issues == ()
        told = {
            name: await said_by(named(contribution, f"desk_{name}"), events)
            for name in ("everything", "structured", "fail", "refuse")
        }
        reading = named(contribution, "read_mcp_resource")
        told["resource"] = await said_by(reading, events, uri="echo://last")

    stages = stage_text(events)
    kept = [content.decode() for content, _ in files.kept.values()]
    for text in (*told.values(), *kept):
        assert shown in text
        assert "x-api-key=[hidden]" in text
        assert "x-trace=t-1" in text
    assert len(kept) == 1
    assert "asked with" in stages
    everything = {**told, "stages": stages, "log": caplog.text, "kept": repr(kept)}
    assert {
        name: mark
        for name, text in everything.items()
        for mark in (MARK, ENCODED, FORWARDED)
        if mark in text
    } == {}


@proves("9.1")
async def test_answers_that_cannot_be_read_are_not_logged(caplog):
    caplog.set_level(logging.DEBUG)
    token = {"type": "bearer", "token": MARK}
    broken = [
        Reply(body=json.dumps(body).encode(), headers={"content-type": "application/json"})
        for body in ({"jsonrpc": "2.0", "id": 5, "outcome": MARK}, [MARK], MARK)
    ]
    told = []
    for reply in broken:
        async with nothing_left_over(), serving(answer=answering(reply)) as service:
            toolset = over_http(service.url, authorization=token)
            async with opened_desk(toolset) as contribution:
                for tool in contribution.tools:
                    told.append(await said_by(tool, []))

    assert len(told) == len(broken)
    assert MARK not in caplog.text
    assert MARK not in repr(told)


def test_variables_of_a_program_are_credentials_by_their_names():
    sent = SentCredentials()

    sent.add_named((("DESK_TOKEN", MARK), ("LANGUAGE", "Icelandic")))

    assert sent.redact(f"{MARK} in Icelandic") == "[hidden] in Icelandic"
    assert MARK not in repr(sent)


def test_what_is_hidden_stays_a_message_that_can_be_used():
    sent = SentCredentials()
    sent.add(MARK)
    listed = {
        "tools": [{"name": MARK, "description": f"As {MARK}", "inputSchema": {"const": MARK}}],
        "nextCursor": "2",
    }
    items: list[JSONRPCMessage] = [
        JSONRPCResponse(jsonrpc="2.0", id=1, result=listed),
        JSONRPCError(
            jsonrpc="2.0", id=2, error=ErrorData(code=5, message=f"No {MARK}", data=[MARK, 1e400])
        ),
        JSONRPCNotification(jsonrpc="2.0", method="m", params={"a": {MARK: [None, MARK]}}),
    ]

    hidden = [sent.redacted(SessionMessage(item)) for item in items]

    assert [one.message.model_dump() for one in hidden if isinstance(one, SessionMessage)] == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {
                "tools": [
                    {"name": MARK, "description": "As [hidden]", "inputSchema": {"const": MARK}}
                ],
                "nextCursor": "2",
            },
        },
        {
            "jsonrpc": "2.0",
            "id": 2,
            "error": {"code": 5, "message": "No [hidden]", "data": ["[hidden]", float("inf")]},
        },
        {"jsonrpc": "2.0", "method": "m", "params": {"a": {"[hidden]": [None, "[hidden]"]}}},
    ]


def test_a_credential_is_found_in_text_that_is_json_again():
    sent = SentCredentials()
    credential = 'sk-"quoted"\\é-0123'
    sent.add(credential)
    text = json.dumps({"told": credential})
    item = JSONRPCResponse(jsonrpc="2.0", id=1, result={"content": [{"text": text}]})

    hidden = sent.redacted(SessionMessage(item))

    assert isinstance(hidden, SessionMessage)
    assert isinstance(hidden.message, JSONRPCResponse)
    assert hidden.message.result == {"content": [{"text": '{"told": "[hidden]"}'}]}


def test_a_credential_in_another_spelling_is_found():
    sent = SentCredentials()
    sent.add("sk/<marked>&0123")
    text = (
        r'{"a": "sk\/\u003cmarked\u003E&0123"} sk%2f%3cmarked%3e%260123 sk/&lt;marked&gt;&amp;0123'
    )
    item = JSONRPCResponse(jsonrpc="2.0", id=1, result={"content": [{"text": text}]})

    told = sent.redacted(SessionMessage(item))

    assert isinstance(told, SessionMessage)
    assert isinstance(told.message, JSONRPCResponse)
    shown = '{"a": "[hidden]"} [hidden] [hidden]'
    assert told.message.result == {"content": [{"text": shown}]}


def test_a_message_that_repeats_nothing_is_left_as_it_is():
    sent = SentCredentials()
    sent.add(MARK, "short")
    item = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={"content": "short"}))

    assert sent.redacted(item) is item
