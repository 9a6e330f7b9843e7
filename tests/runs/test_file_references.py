"""A model passes files by name in place of their contents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import Event, RunFinished
from apps.agent.messages import ModelMessage
from apps.capabilities.preparation import prepare
from apps.catalog.resolved_application import ResolvedApplication
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.capabilities.manifests import manifest, parameter, stage_text, tool, tool_set
from tests.capabilities.service import Reply, serving
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying
from tests.servers.internet import internet, ok

pytestmark = pytest.mark.django_db

CALLER = Caller("user-1", "user", user_id=1)


async def test_the_model_is_told_what_is_wrong_with_a_reference_and_tries_again(settings: Any):
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    page = "http://files.example/a.csv?key=s3cret"
    model = ScriptedModel(
        calling(("1", "shop_look_up", {"x": "file:files/user-1/a.csv"})),
        calling(("2", "shop_look_up", {"x": "file:text::http://files.example/large"})),
        calling(
            ("3", "shop_look_up", {"x": f"file:text::{page}"}),
            ("4", "shop_look_up", {"x": f"file:base64::{page}"}),
        ),
        saying("Done."),
    )
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"some-model": model}
    events: list[Event] = []

    async with (
        serving(Reply(200, b"yes")) as service,
        internet({"/a.csv": ok(b"1,2"), "/large": ok(b"12345")}) as net,
    ):
        document = manifest(
            tool_set(tool(f"{service.url}/a", "post", {"x": parameter("body", "x")})),
            features={"file_loading": {"size_limit": 4}, "timestamp": None},
        )
        app = ResolvedApplication(1, "app", "App", "", True, 1, document, prepare(document))
        await run_application(
            app, RunRequest((ModelMessage("user", "Go"),)), workspace, CALLER, events.append
        )

    results = {m.tool_call_id: m.text for m in model.asked[-1].messages if m.role == "tool"}
    assert results == {
        "1": "Error: Parameter x is invalid: "
        "Missing required file prefix (base64::, url::, text::)\n\n"
        "Correct it and call the tool again.",
        "2": "Error: Parameter x is invalid: "
        "External URL http://files.example/large exceeds the configured file-size limit.\n\n"
        "Correct it and call the tool again.",
        "3": "yes",
        "4": "yes",
    }
    assert sorted(json.loads(seen.body)["x"] for seen in service.seen) == ["1,2", "MSwy"]
    assert [request.split(" ")[1] for request in net.asked] == ["/large", "/a.csv?key=s3cret"]
    assert isinstance(events[-1], RunFinished)
    shown = stage_text(events)
    assert f"***x:*** file:text::{page}" in shown
    assert "1,2" not in shown
