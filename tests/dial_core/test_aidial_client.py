"""DIAL's own client works with this Core. A separate interpreter runs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dial_core import serve_core
from tests.dial_core.core import KEY

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
TOOLSET = "toolsets/public/desk"
SKILL = "skills/public/writing/tone"

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="aidial-client tests skipped: there is no .venv-peers (make .venv-peers/stamp).",
)


@pytest.fixture(scope="module")
def report() -> Iterator[dict[str, Any]]:
    with serve_core() as core:
        core.add_model("m", displayName="M")
        core.add_application("app", "http://127.0.0.1:9/", {"a": 1}, schema_id="https://x/type")
        core.configuration.schemas["https://x/type"]["properties"]["b"] = {
            "dial:meta": {"dial:propertyKind": "client", "dial:propertyOrder": 2}
        }
        core.add_application("app", None, {"a": 1, "b": 2}, schema_id="https://x/type")
        core.add_toolset(TOOLSET, "http://127.0.0.1:9/", allowedTools=["add"])
        core.add_skill(SKILL, {"SKILL.md": b"Be kind.", "notes/one.md": b"1"})
        core.channels.auto_answer = "success"
        core.channels.heartbeat_seconds = 0.05
        with core.request_key("app") as key:
            script = Path(__file__).with_name("aidial_client_session.py")
            arguments = [core.url, KEY, key.value, core.open_channel(), TOOLSET, SKILL]
            done = subprocess.run(
                [PYTHON, script, *arguments], capture_output=True, text=True, timeout=100
            )
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout)


def test_files_are_put_listed_copied_and_guarded_by_their_etags(report):
    assert report["files"] == {
        "url": "/first%20one.txt",
        "size": 5,
        "content": "first",
        "content_type": "text/plain",
        "listed": [["deep", "FOLDER"], ["first one.txt", "ITEM"], ["third.txt", "ITEM"]],
        "paged": ["deep"],
        "has_more": True,
        "stale": ["EtagMismatchError", 412],
        "missing": ["ResourceNotFoundError", 404],
    }


def test_prompts_are_kept(report):
    assert report["prompts"] == {
        "content": "Hello {{name}}",
        "taken": ["EtagMismatchError", 412],
        "missing": ["ResourceNotFoundError", 404],
    }


def test_models_applications_and_toolsets_are_listed_apart(report):
    assert report["listings"] == {
        "deployments": ["m"],
        "deployment": "M",
        "not_a_model": ["DialException", 404],
        "applications": ["app"],
        "application": {"b": 2},
        "names": [["m", "model"], ["app", "application"]],
        "toolsets": [],
        "toolset": ["add"],
        "model": "generally-available",
        "no_configuration": ["ParsingDataError", 422],
    }


def test_who_calls_is_told_and_only_an_application_has_appdata_and_grants(report):
    assert report["user"] == {"roles": ["default"], "project": "Demo"}
    assert report["no_appdata"] is True
    assert report["grant_of_a_project"] == ["DialException", 401]


def test_an_application_reads_its_own_properties_and_asks_its_user_to_sign_in(report):
    assert report["application"] == {
        "bucket_differs": True,
        "appdata": "app",
        "own_properties": {"a": 1, "b": 2},
        "project": "Demo",
        "signed_in": {TOOLSET: "success"},
    }


def test_skills_are_listed_and_read(report):
    assert report["skills"] == {
        "listed": ["tone"],
        "files": [["SKILL.md", "ITEM"], ["notes", "FOLDER"]],
        "text": "Be kind.",
        "archive": "application/zip",
    }


def test_completions_are_whole_and_streamed(report):
    assert report["completions"] == {"whole": "One two", "streamed": "One two"}
