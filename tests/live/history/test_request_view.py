"""Users' view of a request, for every API."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.meter import PromptSpan
from apps.agent.model import ModelRequest
from apps.live.history.request_view import RequestPart, RequestView, view_of
from apps.live.history.sent_requests import LARGEST_PART, split_request
from apps.live.sent_request_rows import SentRequestRow
from apps.workspace.anthropic.model import encode_anthropic
from apps.workspace.anthropic.parameters import ModelTraits
from apps.workspace.openai.model import encode_openai
from apps.workspace.responses.model import encode_responses
from tests.contract import proves
from tests.fakes import spec

LAYERS = (PromptSpan("application", "the manifest", 8), PromptSpan("skills", "skills", 5))
MESSAGES = (
    ModelMessage("system", "Be kind.\n\nRead."),
    ModelMessage("user", "Who am I?"),
    ModelMessage("assistant", "", (ToolCall("1", "search_memories", '{"query":"name"}'),)),
    ModelMessage("tool", "You are Ann.", tool_call_id="1"),
)
REQUEST = ModelRequest(MESSAGES, [spec("search_memories", "Look")], {"temperature": 0.5})


def bodies() -> dict[str, bytes]:
    return {
        "openai": encode_openai(REQUEST, "gpt", dial=False),
        "anthropic": encode_anthropic(REQUEST, "claude", ModelTraits.of({})),
        "responses": encode_responses(REQUEST, "o1"),
    }


def view(body: bytes, **options: Any) -> RequestView:
    stream = uuid4()
    members, parts = split_request(stream, body)
    row = SentRequestRow(
        stream=stream,
        run=uuid4(),
        application="travel",
        model="gpt",
        members=members,
        prompt=[[one.layer, one.source, one.length] for one in LAYERS],
        private=["search_memories"],
    )
    return view_of(row, {digest: part for (_, digest), part in parts.items()}, **options)


@proves("T-23")
@pytest.mark.parametrize("api", ["openai", "anthropic", "responses"])
def test_the_layers_of_the_system_prompt_are_told_apart_in_every_api(api):
    found = view(bodies()[api])

    assert found.prompt == (
        RequestPart("application", "the manifest", "Be kind.", 2),
        RequestPart("skills", "skills", "Read.", 2),
    )
    assert found.messages[0] == RequestPart("conversation", "user", "Who am I?", 3)
    assert [tool.source for tool in found.tools] == ["search_memories"]
    assert "Look" in found.tools[0].text
    assert json.loads(found.parameters)["stream"] is True


@proves("T-23")
@pytest.mark.parametrize("api", ["openai", "anthropic", "responses"])
def test_others_see_of_private_calls_how_long_they_are(api):
    mine = "".join(part.text for part in view(bodies()[api]).messages)
    others = view(bodies()[api], withholds_private=True)
    told = "".join(part.text for part in others.messages)

    assert "You are Ann." in mine
    assert "query" in mine
    assert "You are Ann." not in told
    assert "query" not in told
    assert told.count("characters, private") == 2


def test_a_prompt_that_was_changed_after_it_was_composed_is_one_piece():
    body = json.dumps({"messages": [{"role": "system", "content": "Other."}]}).encode()

    assert view(body).prompt == (RequestPart("system", "system prompt", "Other.", 2),)


def test_of_a_very_long_message_the_beginning_is_kept_and_its_size_told():
    content = [{"type": "image_url", "image_url": {"url": "data:" + "x" * LARGEST_PART}}]
    body = json.dumps({"messages": [{"role": "user", "content": content}]}).encode()

    [part] = view(body).messages

    assert part.is_cut
    assert len(part.text) == LARGEST_PART
    assert part.tokens > LARGEST_PART // 4


def test_credentials_of_tools_that_the_service_runs_are_masked():
    tool = {"type": "mcp", "server_url": "https://x.org", "headers": {"Authorization": "Bearer s3"}}
    function = {"type": "function", "function": {"name": "f", "parameters": {"token": "kept"}}}
    body = json.dumps({"tools": [tool, function], "api_key": "s3", "user": "u"}).encode()

    found = view(body)

    assert "s3" not in "".join(part.text for part in found.tools) + found.parameters
    assert "$hidden" in found.tools[0].text
    assert "kept" in found.tools[1].text
