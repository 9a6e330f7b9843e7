"""Whole runs of an application whose models follow a script."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.events import Event, StateSaved
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import Message
from apps.agent.model import Model
from apps.capabilities.registry import Capability, Prepared, prepare
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.manifest import Manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run
from tests.fakes import FakeWorkspace, ScriptedModel

CALLER = Caller("user-7")


def led_by(deployment_id: str = "gpt", prompt: str = "", **rest: Any) -> dict[str, Any]:
    """An orchestrator with a custom system prompt."""
    written = {"type": "custom", "content": prompt, "variables": {}}
    return {"deployment": {"deployment_id": deployment_id}, "system_prompt": written, **rest}


def application(
    document: Manifest, *capabilities: Capability, **fields: Any
) -> ResolvedApplication:
    """An application with these capabilities, or with all that there are."""
    openers = ((one.name, opener) for one in capabilities if (opener := one.prepare(document)))
    prepared = Prepared(tuple(openers), ()) if capabilities else prepare(document)
    return ResolvedApplication(1, "app", "App", "", True, 1, document, prepared, **fields)


async def events_in(
    workspace: Any,
    app: ResolvedApplication,
    *messages: Message,
    ledger: Ledger = NO_LEDGER,
    events: list[Event] | None = None,
    **request: Any,
) -> list[Event]:
    """The events of a run for the caller of the workspace; of one that fails, they are in `events`."""
    found: list[Event] = [] if events is None else events
    asked = RunRequest(messages, **request)
    await run(app, asked, workspace, workspace.caller, found.append, ledger)
    return found


async def events_of(
    app: ResolvedApplication, models: Mapping[str, Model], *messages: Message, **rest: Any
) -> list[Event]:
    """The same for a run whose workspace has nothing but these models."""
    workspace = FakeWorkspace(CALLER)
    workspace.models = models
    return await events_in(workspace, app, *messages, **rest)


def state_of(events: Sequence[Event]) -> dict[str, Any]:
    """The state that the run has saved once."""
    (saved,) = (event for event in events if isinstance(event, StateSaved))
    return dict(saved.state)


def results(model: ScriptedModel, number: int = -1) -> list[str]:
    """The results of tool calls that a request of the model contained."""
    return [message.text for message in model.asked[number].messages if message.role == "tool"]
