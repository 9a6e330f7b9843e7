"""A model uses file tools in whole runs, in both workspaces."""

from collections.abc import Collection
from typing import Any, Self

import pytest

from apps.agent.events import Event, RunFinished, StageOpened, StateSaved
from apps.agent.messages import ModelMessage
from apps.agent.model import Model
from apps.workspace.port import DeploymentInfo, Workspace
from tests.capabilities.files.agents import document
from tests.capabilities.manifests import manifest, parameter, tool, tool_set
from tests.capabilities.runs import application, events_in
from tests.capabilities.service import Reply, serving
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying


class Scripted:
    """A workspace with a scripted model. Everything else is its own."""

    def __init__(self, workspace: Workspace, model: ScriptedModel) -> None:
        self.workspace = workspace
        self.scripted = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workspace, name)

    def inside(self, application: str, keys: str = "platform") -> Self:
        return self

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        return DeploymentInfo(deployment_id, deployment_id)

    facts = deployment

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        return self.scripted


async def answered(
    workspace: Workspace, model: ScriptedModel, wanted: Any = None
) -> tuple[dict[str | None, str], list[Event]]:
    """Return the model's result of each call, and the events."""
    app = application(wanted or document(agent_home_dir="desk/"))
    question = ModelMessage("user", "Keep my notes")
    events = await events_in(Scripted(workspace, model), app, question)
    told = {
        message.tool_call_id: message.text.partition("\n<attachments>")[0]
        for message in model.asked[-1].messages
        if message.role == "tool"
    }
    return told, events


async def test_a_model_works_with_its_files(workspace):
    steps = [
        ("write", {"path": "notes/a.md", "content": "tea\nmilk\n"}),
        ("list", {"path": "", "max_depth": 2}),
        ("edit", {"path": "notes/a.md", "old_string": "milk", "new_string": "oat milk"}),
        ("read_lines", {"path": "notes/a.md", "start_line": 0, "end_line": 10}),
        ("search", {"path": "", "pattern": "OAT", "case_insensitive": True}),
        ("move", {"source": "notes/a.md", "destination": "b.md"}),
        ("write", {"path": "../out.md", "content": "x"}),
        ("delete", {"path": "b.md"}),
        ("list", {"path": ""}),
    ]
    scripts = [
        calling((str(n), f"internal_file_{name}", arguments))
        for n, (name, arguments) in enumerate(steps)
    ]
    model = ScriptedModel(*scripts, saying("Done."))

    told, events = await answered(workspace, model)

    assert told == {
        "0": "Created notes/a.md (9 bytes).",
        "1": "- notes/\n9 notes/a.md",
        "2": "Edited notes/a.md at line 1 (now 13 bytes).",
        "3": "notes/a.md, lines 0 to 1 of 2:\ntea\noat milk",
        "4": "notes/a.md:\n1: oat milk",
        "5": "Moved notes/a.md to b.md.",
        "6": (
            "Error: Parameter path is invalid: '../out.md' cannot be used: '.' and '..' are "
            "not allowed in it.\n\nCorrect it and call the tool again."
        ),
        "7": "Deleted b.md.",
        "8": "(empty)",
    }
    assert [event.title for event in events if isinstance(event, StageOpened)] == [
        "Write file",
        "List files",
        "Edit file",
        "Read file lines",
        "Search in file",
        "Move file",
        "Write file",
        "Delete file",
        "List files",
    ]
    assert isinstance(events[-1], RunFinished)


@proves("14.6")
@pytest.mark.django_db
async def test_the_model_finds_what_it_needs_in_a_large_result(workspace, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    body = "\n".join(f"row {n}" for n in range(90_000)).encode()
    model = ScriptedModel(
        calling(("1", "shop_look_up", {"x": "1"})),
        calling(("2", "internal_file_find", {"pattern": "shop_*.txt"})),
        calling(("3", "internal_file_search", {"path": "tool_results/", "pattern": "row 87654"})),
        saying("Done."),
    )

    async with serving(Reply(200, body, {"Content-Type": "text/plain"})) as service:
        wanted = manifest(
            tool_set(tool(f"{service.url}/a", "get", {"x": parameter("query", "x")})),
            features={"dial_files": {}, "timestamp": None},
        )
        told, events = await answered(workspace, model, wanted)

    assert told["1"].startswith("The result is too large to be shown here (")
    name = told["2"].partition(" ")[2]
    assert f"It is in the file {name}." in told["1"]
    assert told["2"].partition(" ")[0] == str(len(body))
    assert told["3"].startswith(f"{name}:\n")
    assert told["3"].endswith(": row 87654")
    (saved,) = [event.state for event in events if isinstance(event, StateSaved)]
    states = [
        message["custom_content"]["state"]["offloaded_response"]
        for message in saved["tool_execution_history"]
        if "offloaded_response" in message.get("custom_content", {}).get("state", {})
    ]
    assert [state["file_url"].endswith(name) for state in states] == [True]
