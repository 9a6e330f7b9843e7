from __future__ import annotations

from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from apps.agent.messages import Message, Thoughts, ToolCall
from apps.agent.model import ModelRequest
from apps.agent.tools import ToolSpec
from apps.errors import BadRequest
from apps.workspace.openai.requests import encode_request
from tests.contract import proves

MESSAGES = (Message("user", "Hi"),)


def written(**fields: Any) -> dict[str, Any]:
    body = msgspec.json.decode(encode_request(ModelRequest(MESSAGES, **fields), "m", dial=False))
    assert isinstance(body, dict)
    return body


def test_parameters_do_not_replace_what_is_ours():
    body = written(parameters={"model": "x", "messages": [], "stream": False, "top_p": 1})

    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "top_p": 1,
    }


def test_stream_options_are_added_to_or_left_out():
    assert written(parameters={"stream_options": {"a": 1}})["stream_options"] == {
        "include_usage": True,
        "a": 1,
    }
    assert "stream_options" not in written(parameters={"stream_options": None})


def test_frozen_mappings_are_written_as_objects():
    frozen = MappingProxyType({"type": "function", "function": MappingProxyType({"name": "f"})})

    assert written(static_tools=(frozen,))["tools"] == [
        {"type": "function", "function": {"name": "f"}}
    ]


@proves("T-54")
def test_dials_model_is_told_up_to_where_its_cache_keeps_the_request():
    call = ToolCall("c", "look", "{}")
    messages = (
        Message("system", "Be kind."),
        *MESSAGES,
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "seen", tool_call_id="c"),
        Message("tool", "seen", tool_call_id="d"),
    )
    tools = [ToolSpec("look", "", {}), ToolSpec("rest", "", {})]

    def marks(count: int, *, dial: bool = True, marks_cache: bool = True) -> list[str]:
        request = ModelRequest(messages[:count], tools, marks_cache=marks_cache)
        body = msgspec.json.decode(encode_request(request, "m", dial=dial))
        entries = [*body["messages"], *body["tools"]]
        names = [*(one["role"] for one in body["messages"]), "look", "rest"]
        mark: dict[str, Any] = {"cache_breakpoint": {}}
        return [
            n for n, one in zip(names, entries, strict=True) if one.get("custom_fields") == mark
        ]

    assert marks(2) == ["system", "rest"]
    assert marks(3) == ["system", "user", "rest"]
    assert marks(5) == ["system", "assistant", "rest"]
    assert marks(5, dial=False) == marks(5, marks_cache=False) == []


def test_half_a_character_is_refused():
    request = ModelRequest((Message("user", "\ud83d"),))

    with pytest.raises(BadRequest):
        encode_request(request, "m", dial=False)


@pytest.mark.parametrize("dial", [False, True])
def test_thoughts_are_written_under_their_name(dial):
    message = Message("assistant", "", thoughts=Thoughts({"reasoning": "Hm."}, "gpt"))

    body = msgspec.json.decode(encode_request(ModelRequest([message]), "m", dial=dial))

    assert body["messages"] == [{"role": "assistant", "content": "", "reasoning": "Hm."}]


def test_a_part_of_a_thought_that_is_none_is_not_written():
    """A client may have written it into the state."""
    message = Message("assistant", "a", thoughts=Thoughts({"role": "system", "signature": "x"}))

    body = msgspec.json.decode(encode_request(ModelRequest([message]), "m", dial=True))

    assert body["messages"] == [{"role": "assistant", "content": "a"}]


def test_dials_model_gets_its_own_state_back_at_the_top_level_where_it_left_it():
    own = {"thread": 7}
    message = Message("assistant", "a", state={"session": 2}, model_state=own)

    written = [
        msgspec.json.decode(encode_request(ModelRequest([message]), "m", dial=dial))["messages"][0]
        for dial in (True, False)
    ]

    bare = {"role": "assistant", "content": "a"}
    assert written == [
        {**bare, "custom_content": {"state": {"session": 2, "thread": 7}}},
        bare,
    ]


def test_names_of_earlier_calls_are_those_that_the_api_accepts():
    calls = tuple(ToolCall(name, name, "{}") for name in ("functions.look", "look ", "my.tool", ""))
    request = ModelRequest(
        (*MESSAGES, Message("assistant", "", tool_calls=calls)), (ToolSpec("my.tool", "", {}),)
    )

    body = msgspec.json.decode(encode_request(request, "m", dial=False))

    written = body["messages"][1]["tool_calls"]
    assert [call["function"]["name"] for call in written] == [
        "functions_look",
        "look",
        "my.tool",
        "unnamed_tool",
    ]
