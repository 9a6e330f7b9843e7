"""`ag-ui-validate` checks recorded and live streams against its rules."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.judges.ag_ui.conftest import JudgedDoor

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ROOT / ".venv-judges" / "ag_ui" / "bin" / "ag-ui-validate"
pytestmark = pytest.mark.skipif(
    not COMMAND.exists(), reason="ag-ui-validate tests skipped: make .venv-judges/ag_ui/stamp"
)
LOOK = {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}


def validate(source: str, *options: str, content: bytes = b"") -> None:
    command = [str(COMMAND), source, "--junit", "--fail-on", "warning", *options]
    done = subprocess.run(command, input=content, capture_output=True, timeout=100)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def test_a_live_run_follows_every_rule(door: JudgedDoor):
    validate(door.url, "--header", f"Authorization: Bearer {door.key}")


@pytest.mark.parametrize(
    "question",
    [
        "think reasoning_content hello",
        "call internal_timeawareness_current_timestamp {}",
        "call look {}",
        'call shop_pay {"amount": 5}',
        'call internal_ask_question {"question": "Which?", "options": [{"label": "Red"}]}',
        "break",
    ],
)
def test_other_runs_follow_every_rule(door: JudgedDoor, question: str, tmp_path: Path):
    message = {"id": "m", "role": "user", "content": question}
    body = {"threadId": "t", "runId": "r", "messages": [message], "tools": [LOOK]}
    headers = {"authorization": f"Bearer {door.key}", "content-type": "application/json"}
    with urlopen(Request(door.url, json.dumps(body).encode(), headers)) as answer:
        recorded = answer.read()
    stream = tmp_path / "stream.txt"
    stream.write_bytes(recorded)

    validate(str(stream))
