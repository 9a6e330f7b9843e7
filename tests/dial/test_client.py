"""DIAL's own client calls Core, Core calls the site, the site calls Core, and the answer returns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.dial.installation import Installation, called, helpers, last, text_of, told_to
from tests.dial_core.core import KEY
from tests.dial_core.models import Answer

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
NAME = "talker"
CHART = {"type": "image/png", "title": "Chart", "url": "files/public/chart.png"}
STARTERS = {
    "intro_text": "Ask away.",
    "starters": [{"title": "Plan a trip", "text": "Plan a trip to Oslo"}],
}

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="aidial-client tests skipped: there is no .venv-peers (make .venv-peers/stamp).",
)


def talk(body: Mapping[str, Any]) -> Answer:
    message = last(body)
    if message["role"] == "tool":
        return [{"text": f"The helper says {message['content']}."}]
    match text_of(message["content"]).split()[0]:
        case "refuse":
            error = {"status": 422, "message": "no", "display_message": "Ask something else."}
            return [{"error": error}]
        case "busy":
            return [{"error": {"status": 429, "message": "later"}}]
        case "break":
            return [{"text": "Half"}, {"error": {"status": 500, "message": "broken"}}]
        case "file":
            return [{"text": "Look."}, {"attachment": CHART}]
        case word:
            return called("*", query=word)


@pytest.fixture(scope="module")
def report(dial_site: Installation) -> dict[str, Any]:
    core = dial_site.core
    core.add_model("talk", talk)
    core.add_model("parrot")
    dial_site.add(NAME, "talk", helpers("parrot"), conversation_starters=STARTERS)
    script = Path(__file__).with_name("client_session.py")
    done = subprocess.run(
        [PYTHON, script, core.url, KEY, NAME], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_an_answer_with_a_tool_is_streamed(report: dict[str, Any]):
    assert report["streamed"] == {
        "text": "The helper says one.",
        "pieces": 4,
        "stages": True,
        "states": 1,
        "usage": True,
    }


def test_each_turn_has_its_tool_and_the_model_is_told_of_all_before(
    report: dict[str, Any], dial_site: Installation
):
    assert [turn["text"] for turn in report["conversation"]] == [
        f"The helper says {word}." for word in ("one", "two", "three")
    ]
    assert [turn["stages"] for turn in report["conversation"]] == [["completed"]] * 3
    turns = [
        body
        for body in dial_site.core.models["talk"].asked
        if [m["content"] for m in body["messages"] if m["role"] == "user"]
        == ["one", "two", "three"]
    ]
    assert [message["role"] for message in told_to(turns[-1])] == [
        "system",
        *["user", "assistant", "tool", "assistant"] * 2,
        *["user", "assistant", "tool"],
    ]


def test_files_travel_both_ways(report: dict[str, Any], dial_site: Installation):
    sent = report["files"].pop("sent")
    assert report["files"] == CHART
    [asked] = [
        body for body in dial_site.core.models["talk"].asked if "file" in str(last(body)["content"])
    ]
    assert sent in json.dumps(asked["messages"])


def test_what_a_model_says_of_its_refusal_reaches_the_person(report: dict[str, Any]):
    for error in (report["refused"], report["refused_stream"]):
        assert (error["status"], error["code"]) == (422, "422")
        assert error["display_message"].startswith("Ask something else.")


def test_a_busy_model_is_told_with_a_status_that_core_relays(report: dict[str, Any]):
    """§8.3: 429 would be retried, and its text lost."""
    assert report["busy"]["status"] == 500
    assert report["busy"]["display_message"].startswith(
        "The request was rate-limited by the AI model service. Please try again later."
    )


def test_an_answer_that_breaks_keeps_its_words(report: dict[str, Any]):
    for error in (report["broken"], report["broken_whole"]):
        assert error["status"] == 500
        assert error["display_message"].startswith(
            "The AI model service encountered an internal error. Please try again later."
        )


def test_an_application_that_core_does_not_know_is_none(report: dict[str, Any]):
    assert report["unknown"]["status"] == 404


def test_starters_are_buttons(report: dict[str, Any]):
    assert report["form"]["properties"]["starter"]["oneOf"] == [
        {
            "const": 1,
            "title": "Plan a trip",
            "dial:widgetOptions": {
                "populateText": "Plan a trip to Oslo",
                "submit": True,
                "confirmationMessage": None,
            },
        }
    ]
