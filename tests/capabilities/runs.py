"""Whole runs of an application with scripted models."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.events import Event, StateSaved
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import ModelMessage
from apps.agent.model import Model
from apps.capabilities.preparation import prepare
from apps.capabilities.registry import Capability, PreparedCapabilities
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.manifest import Manifest
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.fakes import FakeWorkspace, ScriptedModel

CALLER = Caller("user-7")


def led_by(deployment_id: str = "gpt", prompt: str = "", **rest: Any) -> dict[str, Any]:
    """Return an orchestrator with a custom system prompt."""
    written = {"type": "custom", "content": prompt, "variables": {}}
    return {"deployment": {"deployment_id": deployment_id}, "system_prompt": written, **rest}


def application(
    document: Manifest, *capabilities: Capability, **fields: Any
) -> ResolvedApplication:
    """Return an application with these capabilities, or with all of them."""
    openers = ((one.name, opener) for one in capabilities if (opener := one.prepare(document)))
    prepared = PreparedCapabilities(tuple(openers), ()) if capabilities else prepare(document)
    return ResolvedApplication(1, "app", "App", "", True, 1, document, prepared, **fields)


async def events_in(
    workspace: Any,
    app: ResolvedApplication,
    *messages: ModelMessage,
    ledger: Ledger = NO_LEDGER,
    events: list[Event] | None = None,
    **request: Any,
) -> list[Event]:
    """Return the events of a run for the caller of the workspace. If the run fails, they are in
    `events`."""
    found: list[Event] = [] if events is None else events
    asked = RunRequest(messages, **request)
    await run_application(app, asked, workspace, workspace.caller, found.append, ledger)
    return found


async def events_of(
    app: ResolvedApplication, models: Mapping[str, Model], *messages: ModelMessage, **rest: Any
) -> list[Event]:
    """Return the same for a run whose workspace has only these models."""
    workspace = FakeWorkspace(CALLER)
    workspace.models = models
    return await events_in(workspace, app, *messages, **rest)


def state_of(events: Sequence[Event]) -> dict[str, Any]:
    """Return the state, which the run has saved once."""
    (saved,) = (event for event in events if isinstance(event, StateSaved))
    return dict(saved.state)


def results(model: ScriptedModel, number: int = -1) -> list[str]:
    """Return the results of tool calls in a request of the model."""
    return [message.text for message in model.asked[number].messages if message.role == "tool"]
