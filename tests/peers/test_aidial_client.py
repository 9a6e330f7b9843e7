"""DIAL's own client against the real site.

It requires another version of `openai`, so it runs in a separate interpreter, which `make test`
sets up.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.sites.gateway import CLOCK, SLUG

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-peers" / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="aidial-client tests skipped: there is no .venv-peers (make .venv-peers/stamp).",
)


@pytest.fixture(scope="module")
def report(gateway):
    script = Path(__file__).with_name("aidial_client_session.py")
    done = subprocess.run(
        [PYTHON, script, gateway.url, gateway.key, SLUG, CLOCK],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_answers_are_read_whole_and_streamed(report):
    assert report["whole"] == "one two three"
    assert report["streamed"] == {
        "text": "one two three",
        "finish_reason": "stop",
        "total_tokens": 7,
        "stages": 0,
    }


def test_stages_are_read(report):
    assert report["stage_statuses"] == ["completed"]
    assert report["streamed_with_a_tool"] >= 2


def test_calls_of_the_clients_tools_are_read(report):
    assert report["tool_call"] == {
        "finish_reason": "tool_calls",
        "name": "weather",
        "arguments": '{"city": "Oslo"}',
    }


def test_the_state_is_brought_back(report):
    assert report["remembered"] == [["assistant", "tool"] * 2] * 3


def test_errors_keep_their_status_and_their_words(report):
    for error in (report["refused"], report["refused_stream"]):
        assert (error["status"], error["code"]) == (403, "upstream_403")
        assert error["display_message"].startswith(
            "You don't have permission to use the AI model configured in this application."
        )
    assert (report["unknown"]["status"], report["unknown"]["code"]) == (404, "DeploymentNotFound")
    assert report["two_choices"]["status"] == 422


def test_files_go_there_and_back(report):
    assert report["files"] == {
        "url": "/first%20%C3%B6ne.csv",
        "size": 5,
        "content": "first",
        "content_type": "text/csv",
        "filename": "first öne.csv",
        "is_whole": True,
        "listed": [["deep", "FOLDER"], ["first öne.csv", "ITEM"]],
        "paged": ["deep", "first öne.csv"],
        "has_more": [True, False],
        "taken": ["EtagMismatchError", 412],
        "stale": ["EtagMismatchError", 412],
        "missing": ["ResourceNotFoundError", 404],
        "foreign": ["ResourceNotFoundError", 404],
    }


def test_an_error_in_mid_stream_keeps_its_words(report):
    assert report["broken_stream"]["status"] == 500
    assert report["broken_stream"]["display_message"].startswith(
        "The AI model service failed while responding. Please try again later."
    )
