"""The demo model uses sub-agents and a to-do list."""

from __future__ import annotations

import pytest

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.todo_list import todo_message
from apps.demo.calls import PlannedCall
from apps.demo.lead import lead_calls
from tests.fakes import spec

KINDS = {"type": "string", "enum": ["researcher", "reviewer"]}
SPAWN = spec("spawn-agent", task={"type": "string"}, agentDefinitionId=KINDS)
TODO = spec("manage-todo", operation={"type": "string"}, text={"type": "string"})
ASKED = "Let sub-agents find out the weather in Oslo and Lima."
OSLO, LIMA, REPORT = (
    *("What is the weather in Oslo?", "What is the weather in Lima?"),
    "Report what the sub-agents found",
)


def made(name: str, result: str = "fine") -> tuple[ToolCall, ModelMessage]:
    return ToolCall("1", name, "{}"), ModelMessage("tool", result, tool_call_id="1")


def written(text: str) -> PlannedCall:
    return PlannedCall("manage-todo", {"operation": "write", "text": text})


def test_it_writes_a_list_begins_subagents_and_ticks_what_is_done():
    tools = [SPAWN, TODO]
    steps = [made("manage-todo"), made("spawn-agent"), made("spawn-agent", "Error: late")]

    first = lead_calls(ASKED, [], tools, [])
    second = lead_calls(ASKED, [], tools, steps[:1])
    third = lead_calls(ASKED, [], tools, steps)
    last = lead_calls(ASKED, [], tools, [*steps, made("manage-todo")])

    assert first == [written(f"- [ ] {OSLO}\n- [ ] {LIMA}\n- [ ] {REPORT}")]
    assert second == [
        PlannedCall("spawn-agent", {"task": task, "agentDefinitionId": "researcher"})
        for task in (OSLO, LIMA)
    ]
    assert third == [written(f"- [x] {OSLO}\n- [ ] {LIMA}\n- [x] {REPORT}")]
    assert last == []


def test_without_a_list_it_begins_the_subagents_at_once():
    calls = lead_calls('Let a sub-agent review this: "The train leave."', [], [SPAWN], [])

    assert [call.arguments["agentDefinitionId"] for call in calls] == ["reviewer"]
    assert lead_calls(ASKED, [], [SPAWN], [made("spawn-agent")]) == []


@pytest.mark.parametrize(
    ("said", "list_now", "text"),
    [
        ("Make a to-do list: book the train, pack", "", "- [ ] Book the train\n- [ ] Pack"),
        ("The bag is done.", "- [ ] Pack the bag\n- [ ] Pay", "- [x] Pack the bag\n- [ ] Pay"),
        ("All is done.", "- [ ] Pack the bag", None),
        ("What is the weather in Oslo?", "- [ ] Pack the bag", None),
    ],
)
def test_a_list_is_written_and_ticked_by_what_is_said(said: str, list_now: str, text: str | None):
    messages = [ModelMessage("user", said), *([todo_message(list_now)] if list_now else [])]

    assert lead_calls(said, messages, [TODO], []) == ([] if text is None else [written(text)])
