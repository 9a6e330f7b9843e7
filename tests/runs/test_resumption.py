"""One process starts a run, and another one ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.accounts.caller import Caller
from apps.agent.events import (
    Event,
    InteractionRequested,
    ModelUsage,
    RunFinished,
    StateSaved,
    TextDelta,
    TurnRestarted,
    Usage,
)
from apps.agent.ledger import WAITING, InteractionRequest, Ledger
from apps.agent.messages import ModelMessage
from apps.agent.model import Delta, ModelRequest
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities import preparation
from apps.capabilities.preparation import prepare
from apps.capabilities.registry import CompletedAnswer, Contribution, Opening, PreparedCapabilities
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.validation.validation import read_manifest
from apps.runs.history import OPEN, SAVED
from apps.runs.requests import RunRequest
from apps.runs.run import RunEnd, run_application
from apps.runs.workspaces import ApplicationModel
from apps.workspace.port import DeploymentInfo
from tests.fakes import (
    Crash,
    FakeWorkspace,
    MemoryLedger,
    async_tool,
    calling,
    capability,
    saying,
    text,
)
from tests.manifest.documents import manifest

CALLER = Caller("user-7")
QUESTION = ModelMessage("user", "Pay my bill.")
APPROVAL = InteractionRequest("", "approval", {"tool": "pay"})


class Calls:
    """Calls of the capability of these tests."""

    paid: Counter[str] = Counter()
    openings = 0
    completed = 0


async def pay(invocation: Invocation) -> ToolResult:
    if "approval" not in invocation.answers:
        return PendingResult(interactions=(APPROVAL,))
    Calls.paid[invocation.id] += 1
    return ToolResult("paid")


async def number_the_attempt(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    Calls.openings += 1
    return [*messages, ModelMessage("user", f"Attempt {Calls.openings}.")]


async def complete(completed: CompletedAnswer) -> None:
    Calls.completed += 1


DESK = capability(
    Contribution((async_tool("pay", pay),), history=(number_the_attempt,), completions=(complete,)),
    "desk",
)


@pytest.fixture(autouse=True)
def _with_a_desk(settings: Settings) -> Iterator[None]:
    Calls.paid, Calls.openings, Calls.completed = Counter(), 0, 0
    settings.CAPABILITIES = [*settings.CAPABILITIES, "tests.runs.test_resumption.DESK"]
    preparation.capabilities.cache_clear()
    yield
    preparation.capabilities.cache_clear()


class Scripts:
    """A model with the answers of each conversation in order, identified by its prompt. `asked` has
    the prompt and the number of each requested answer."""

    def __init__(self, **answers: Sequence[Sequence[Delta]]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, int]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        name = request.messages[0].text.split()[0]
        number = sum(message.role == "assistant" for message in request.messages)
        self.asked.append((name, number))
        yield [*self.answers[name][number], Usage(1, 1)]


PAYS = [[text("I pay."), *calling(("p", "pay", {}))], saying("It is paid.")]


def application(
    prompt: str, *tool_sets: Mapping[str, Any], model: str = "gpt", **features: Any
) -> ResolvedApplication:
    document = read_manifest(
        manifest(
            orchestrator={
                "deployment": {"deployment_id": model},
                "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
            },
            tool_sets=list(tool_sets),
            features={
                "timestamp": None,
                "subagents": {"enabled": True, "general_purpose": {"system_prompt": "helper"}},
                **features,
            },
        ),
        preview=True,
    )
    return ResolvedApplication(1, prompt, prompt, "", True, 1, document, prepare(document))


INNER = {
    "type": "dial-deployment",
    "name": "experts",
    "tools": [{"type": "dial-deployment-simple", "deployment_id": "inner"}],
}


def workspace_of(model: Scripts) -> FakeWorkspace:
    """Return a workspace with the model `gpt`, and the application `inner` that uses it."""
    workspace = FakeWorkspace(CALLER)
    inner = ApplicationModel(application("inner"), workspace)
    workspace.models = {"gpt": model, "inner": inner}
    info = DeploymentInfo("inner", "inner", is_application=True, is_recorded=True)
    workspace.infos = {"inner": info}
    return workspace


async def go(
    app: ResolvedApplication, model: Scripts, ledger: Ledger, events: list[Event]
) -> RunEnd:
    return await run_application(
        app, RunRequest((QUESTION,)), workspace_of(model), CALLER, events.append, ledger
    )


def said(events: Sequence[Event]) -> str:
    shown = ""
    for event in events:
        if isinstance(event, TurnRestarted):
            shown = event.text
        elif isinstance(event, TextDelta):
            shown += event.text
    return shown


def endings(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, RunFinished | StateSaved)]


def shaped(shape: str) -> tuple[ResolvedApplication, Scripts, str]:
    """Return an application that pays itself, or through a sub-agent, through another application
    that is its tool, or for another application. Also return its model, and the key of the step
    that runs the payment."""
    match shape:
        case "itself":
            return application("outer"), Scripts(outer=PAYS), ""
        case "helper":
            asked: dict[str, Any] = {"prompt": "Pay.", "tool_sets": []}
            asked["subagent_type"] = "general-purpose"
            outer = [calling(("h", "internal_task", asked)), saying("All is done.")]
            return application("outer"), Scripts(outer=outer, helper=PAYS), "t:1:0:h/"
        case "tool":
            outer = [calling(("i", "inner", {"query": "Pay."})), saying("All is done.")]
            return application("outer", INNER), Scripts(outer=outer, inner=PAYS), "t:1:0:i/"
        case _:
            driven = replace(
                application("outer", model="inner"), prepared=PreparedCapabilities((), ())
            )
            return driven, Scripts(inner=PAYS), "m:1/"


every_shape = pytest.mark.parametrize("shape", ["itself", "helper", "tool", "driven"])


@every_shape
async def test_the_run_waits_for_what_is_asked_anywhere_in_it_and_goes_on_with_the_answer(shape):
    app, model, prefix = shaped(shape)
    ledger, events = MemoryLedger(), list[Event]()

    waiting = await go(app, model, ledger, events)
    before = endings(events)
    still_waiting = await go(app, model, ledger, events)
    ledger.answer(f"{prefix}t:1:0:p", "approval", outcome="allow")
    end = await go(app, model, ledger, events)

    last = "It is paid." if shape in {"itself", "driven"} else "All is done."
    key = f"{prefix}t:1:0:p"
    requests = [event for event in events if isinstance(event, InteractionRequested)]
    assert (waiting, before) == (RunEnd(WAITING), [])
    assert still_waiting == RunEnd(WAITING)
    assert [event.interaction.key for event in requests] == [key]
    assert end == RunEnd("stop", end.text)
    assert end.text.endswith(last)
    assert Calls.paid == {"p": 1}
    assert said(events).endswith(last)
    assert [type(event) for event in endings(events)] == [StateSaved, RunFinished]
    assert len(model.asked) == len(set(model.asked))
    spent = len(model.asked)
    assert endings(events)[-1] == RunFinished(
        "stop", Usage(spent, spent, (ModelUsage("gpt", spent, spent),))
    )


@every_shape
async def test_a_run_that_is_cut_off_anywhere_ends_the_same(shape):
    async def whole(room: int | None) -> tuple[list[str], str, int, bool]:
        Calls.paid, Calls.openings = Counter(), 0
        app, model, prefix = shaped(shape)
        ledger, events, is_cut = MemoryLedger(room), list[Event](), False
        for _ in range(3):
            try:
                end = await go(app, model, ledger, events)
            except Crash:
                is_cut, ledger.room = True, None
                continue
            if end.reason != WAITING:
                break
            ledger.answer(f"{prefix}t:1:0:p", "approval", outcome="allow")
        assert Calls.paid["p"] <= 1
        return list(ledger.steps), said(events), Calls.paid["p"], is_cut

    expected = await whole(None)
    room, cut = 0, 0
    while (found := await whole(room))[3]:
        if found[2]:  # otherwise, the payment may have started, so it is not repeated
            assert found[:3] == expected[:3]
            cut += 1
        room += 1

    assert cut >= 4


async def test_the_second_attempt_asks_with_the_messages_of_the_first():
    app, model, _ = shaped("itself")
    ledger, events = MemoryLedger(), list[Event]()
    await go(app, model, ledger, events)
    ledger.answer("t:1:0:p", "approval", outcome="allow")

    await go(app, model, ledger, events)

    assert Calls.openings == 1
    assert Calls.completed == 1
    opened = ledger.steps[OPEN].result
    assert [message["content"] for message in opened["messages"]][-1] == "Attempt 1."
    assert opened["parameters"] == {}


async def test_what_tools_keep_for_the_next_request_is_there_for_the_next_attempt():
    kept: list[Any] = []

    @asynccontextmanager
    async def open_memory(found: Opening) -> AsyncIterator[Contribution]:
        async def remember(invocation: Invocation) -> ToolResult:
            found.conversation.saved["memory"] = [
                *found.conversation.saved.get("memory", ()),
                invocation.id,
            ]
            return ToolResult("kept")

        kept.append(found.conversation.state.get("memory"))
        yield Contribution((async_tool("remember", remember),))

    app = application("outer")
    openers = (*app.prepared.openers, ("memory", open_memory))
    app = replace(app, prepared=replace(app.prepared, openers=openers))
    outer = [
        calling(("1", "remember", {}), ("2", "remember", {})),
        calling(("p", "pay", {})),
        saying("Done."),
    ]
    ledger, events = MemoryLedger(), list[Event]()
    await go(app, Scripts(outer=outer), ledger, events)
    ledger.answer("t:2:0:p", "approval", outcome="allow")

    await go(app, Scripts(outer=outer), ledger, events)

    assert kept == [None, ["1", "2"]]
    assert ledger.steps[SAVED].result == {"saved": {"memory": ["1", "2"]}}
    (saved, _) = endings(events)
    assert isinstance(saved, StateSaved)
    assert saved.state["memory"] == ["1", "2"]
