"""Models that answer according to a script."""

from __future__ import annotations

import json
from typing import Any

from tests.dial_core import Core
from tests.dial_core.callers import said

HELLO = {"messages": [{"role": "user", "content": "Hi there"}]}


async def test_an_answer_may_have_conditions(core: Core):
    answers = [
        {"called": True, "steps": [{"text": "after my call"}]},
        {"after": "tool", "steps": [{"text": "after a tool"}]},
        {"after": "user", "steps": [{"text": "after a question"}]},
    ]
    script = {"kind": "script", "is_repeated": True, "answers": answers}
    core.read({"models": {"m": {"script": script}}})
    user = {"role": "user", "content": "Hi"}

    def called(id: str) -> list[dict[str, Any]]:
        function = {"name": "clock", "arguments": "{}"}
        calls = [{"id": id, "type": "function", "function": function}]
        call = {"role": "assistant", "content": None, "tool_calls": calls}
        return [user, call, {"role": "tool", "tool_call_id": id, "content": "12"}]

    found = []
    for messages in (
        [user],
        called("other-1"),
        called("scripted-1"),
        [*called("scripted-1"), user],
        called("synth_1"),
    ):
        found.append(said((await core.call_application("m", {"messages": messages})).events()))

    assert found == [
        "after a question",
        "after a tool",
        "after my call",
        "after a question",
        "after a question",
    ]


async def test_a_model_can_tell_what_it_was_asked(core: Core):
    core.read({"models": {"r": {"script": {"kind": "record"}, "defaults": {"temperature": 0}}}})

    reply = await core.call_application("r", {**HELLO, "seed": 7}, stream=False)

    assert heard_text(reply.json()) == {**HELLO, "seed": 7, "stream": False, "temperature": 0}


def heard_text(document: dict[str, Any]) -> Any:
    return json.loads(document["choices"][0]["message"]["content"])
