"""The official client of AG-UI reads runs, answers interrupts and sends the thread back."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves_feature
from tests.judges.ag_ui.conftest import JudgedDoor

FOLDER = Path(__file__).parent
pytestmark = pytest.mark.skipif(
    not (FOLDER / "node_modules" / "@ag-ui" / "client").exists() or shutil.which("node") is None,
    reason="AG-UI client tests skipped: make tests/judges/ag_ui/node_modules/stamp",
)
SUCCESS = {"type": "success"}


def talk(door: JudgedDoor, *said: str) -> dict[str, Any]:
    command = ["node", str(FOLDER / "client.mjs"), door.url, door.key, *said]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@proves_feature("ag-ui", "text", "tools")
def test_texts_and_own_tools_are_messages_of_the_thread(door: JudgedDoor):
    clock = "call internal_timeawareness_current_timestamp {}"

    seen = talk(door, clock, "say hello")

    assert (seen["error"], seen["outcomes"]) == ("", [SUCCESS, SUCCESS])
    roles = [role for role, _ in seen["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert seen["messages"][-1] == ["assistant", "say hello"]


@proves_feature("ag-ui", "client tools")
def test_a_tool_of_the_client_is_called(door: JudgedDoor):
    seen = talk(door, "call look {}", "rain")

    assert seen["error"] == ""
    assert [*map(len, (one.get("pendingToolCallIds", []) for one in seen["outcomes"]))] == [1, 0]
    assert seen["messages"][-1] == ["assistant", "It brought rain"]


@proves_feature("ag-ui", "approvals")
def test_an_approval_is_an_interrupt_that_the_next_run_resumes(door: JudgedDoor):
    seen = talk(door, 'call shop_pay {"amount": 5}', '{"approved": true}', "say thanks")

    assert (seen["error"], seen["pending"]) == ("", [["tool_call"], []])
    assert [one["type"] for one in seen["outcomes"]] == ["interrupt", "success", "success"]
    assert "paid" in json.dumps([one for one in seen["messages"] if one[0] == "tool"])
    assert seen["messages"][-1] == ["assistant", "say thanks"]


@proves_feature("ag-ui", "questions")
def test_a_question_is_an_interrupt_that_the_next_run_resumes(door: JudgedDoor):
    asked = json.dumps({"question": "Which?", "options": [{"label": "Red"}]})

    seen = talk(door, f"call internal_ask_question {asked}", '{"answer": "Red"}')

    assert (seen["error"], seen["pending"]) == ("", [["input_required"]])
    assert 'The user chose: "Red"' in seen["messages"][-1][1]


@proves_feature("ag-ui", "errors")
@pytest.mark.parametrize("question", ["break", "status 500"])
def test_a_failure_is_an_error_of_the_client(door: JudgedDoor, question: str):
    assert talk(door, question)["error"]
