"""The official client of A2A in Python talks to an application over both bindings."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract import proves_feature
from tests.judges.ag_ui.conftest import PREPARE, SLUG, ShopHandler, selling
from tests.sites.gateway import Gateway, serve_gateway

FOLDER = Path(__file__).parent
PYTHON = FOLDER.parents[2] / ".venv-judges" / "a2a_sdk" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="A2A client tests skipped: make .venv-judges/a2a_sdk/stamp"
)
STREAMED = ("stream+JSONRPC", "stream+HTTP")
bindings = pytest.mark.parametrize("binding", ["JSONRPC", "HTTP", *STREAMED])


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("a2a"), ShopHandler) as served:
        yield served


@pytest.fixture
def key(gateway: Gateway) -> str:
    """Return a key without tasks."""
    manifest = selling(gateway.upstream.url)
    code = f"Application.objects.filter(slug=slug).delete()\n{PREPARE}"
    return str(gateway.site.shell(code, slug=SLUG, manifest=manifest))


def talk(gateway: Gateway, key: str, binding: str, *said: str) -> dict[str, Any]:
    command: list[str | Path] = [
        PYTHON,
        FOLDER / "client.py",
        f"{gateway.url}/a2a/{SLUG}",
        key,
        binding,
        *said,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@proves_feature("a2a", "text", "tools")
@bindings
def test_messages_of_a_context_are_tasks_with_an_answer(gateway, key, binding):
    clock = "call internal_timeawareness_current_timestamp {}"

    told = talk(gateway, key, binding, "say hello", clock)

    assert (told["name"], told["error"]) == ("Judged", "")
    first, second = told["seen"]
    kinds = first.pop("kinds")
    assert first == {"state": "TASK_STATE_COMPLETED", "text": "say hello", "told": ""}
    assert kinds[0] == "task"
    if binding in STREAMED:
        assert kinds[-2:] == ["artifact_update", "status_update"]
    assert second["text"].startswith("It brought")
    assert told["tasks"] == ["TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]


@proves_feature("a2a", "questions", "approvals")
@bindings
def test_a_task_waits_for_an_answer_and_for_an_approval(gateway, key, binding):
    asked = json.dumps({"question": "Which?", "options": [{"label": "Red"}]})
    question = f"call internal_ask_question {asked}"

    told = talk(gateway, key, binding, question, "Red", 'call shop_pay {"amount": 5}', "Approve")

    assert told["error"] == ""
    waiting, answered, held, paid = told["seen"]
    assert (waiting["state"], held["state"]) == ("TASK_STATE_INPUT_REQUIRED",) * 2
    assert "Which?" in waiting["told"]
    assert 'The user chose: "Red"' in answered["text"]
    assert (paid["state"], "paid" in paid["text"]) == ("TASK_STATE_COMPLETED", True)


@proves_feature("a2a", "cancel")
@pytest.mark.parametrize("binding", STREAMED)
def test_a_streamed_task_is_canceled(gateway, key, binding):
    told = talk(gateway, key, binding, "cancel", "hang")

    assert (told["error"], told["seen"][0]["state"]) == ("", "TASK_STATE_CANCELED")


@proves_feature("a2a", "files in")
@bindings
def test_a_file_is_attached(gateway, key, binding):
    said = json.dumps({"text": "say thanks", "raw": "a note"})

    told = talk(gateway, key, binding, said)

    assert told["error"] == ""
    assert told["seen"][0]["text"].startswith("say thanks")
    assert "<title>note.txt</title>" in told["seen"][0]["text"]


@proves_feature("a2a", "errors")
@bindings
def test_a_failure_is_the_state_of_the_task(gateway, key, binding):
    told = talk(gateway, key, binding, "status 500")

    assert (told["error"], told["seen"][0]["state"]) == ("", "TASK_STATE_FAILED")
    assert told["seen"][0]["told"]
