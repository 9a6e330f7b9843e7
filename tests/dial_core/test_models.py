"""Models that say what a script tells them to."""

from __future__ import annotations

import json
from typing import Any

from tests.dial_core import Core
from tests.dial_core.callers import said

HELLO = {"messages": [{"role": "user", "content": "Hi there"}]}


async def test_a_scripted_model_says_its_script(core: Core):
    model = core.add_model("m", [[{"text": "One two"}], [{"tool_calls": [{"name": "clock"}]}]])

    answer = await core.call_application("m", HELLO)
    whole = await core.call_application("m", HELLO, stream=False)
    over = await core.call_application("m", HELLO, stream=False)

    assert said(answer.events()) == "One two"
    assert answer.text.endswith("\n\ndata: [DONE]\n\n")
    assert whole.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "clock"
    assert whole.json()["choices"][0]["finish_reason"] == "tool_calls"
    assert (over.status, over.json()["error"]["message"]) == (
        500,
        "The script has no more answers.",
    )
    assert [body["messages"] for body in model.asked] == [HELLO["messages"]] * 3


async def test_an_error_of_a_script_is_a_status_before_the_first_word_and_an_event_after(
    core: Core,
):
    failure = {"error": {"status": 429, "message": "Slow down."}}
    core.add_model("m", [[failure], [{"text": "Well"}, failure], [{"wait": 0.01}, failure]])

    before = await core.call_application("m", HELLO)
    after = await core.call_application("m", HELLO)
    whole = await core.call_application("m", HELLO, stream=False)

    error = {"error": {"code": "429", "message": "Slow down."}}
    assert (before.status, before.json()) == (429, error)
    assert (after.status, after.events()[-1]) == (200, error)
    assert (whole.status, whole.json()) == (429, error)


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
