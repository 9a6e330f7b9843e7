"""Sub-agents of predefined kinds: separate runs inside the run that started them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.events import (
    Event,
    RunFinished,
    StageOpened,
    SubagentEnded,
    SubagentStarted,
    TextDelta,
    Usage,
)
from apps.agent.ledger import NO_LEDGER, Ledger
from apps.agent.messages import ModelMessage
from apps.agent.model import Delta, ModelRequest
from apps.capabilities.registry import PredefinedContent
from apps.errors import StepLimitReached
from apps.manifest.kinds.deployment import DeploymentToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.markdown.agent_definition import AgentDefinition
from apps.manifest.validation.validation import read_manifest
from tests.capabilities import runs
from tests.capabilities.runs import led_by, results
from tests.contract import proves
from tests.fakes import (
    Crash,
    MemoryLedger,
    ScriptedModel,
    calling,
    finish,
    saying,
    text,
)
from tests.manifest.documents import manifest

QUESTION = ModelMessage("user", "Compare them.")
SCOUT = AgentDefinition("scout", "Scout", "Looks ahead.", "You scout.")


def spawning(*tool_sets: Any, features: Any = None, limit: int = 15, **wanted: Any) -> Manifest:
    """Return a manifest of the model `lead` whose sub-agents are `scout` and itself."""
    document = manifest(
        orchestrator=led_by("lead", "You lead.", max_iterations=limit),
        tool_sets=list(tool_sets),
        features={
            "timestamp": None,
            "spawn_agent": {"enabled": True, **wanted},
            **(features or {}),
        },
    )
    return read_manifest(document, preview=False)


def asking(deployment_id: str) -> dict[str, Any]:
    tool = {"type": "dial-deployment-simple", "deployment_id": deployment_id}
    return {"type": "dial-deployment", "name": f"{deployment_id}s", "tools": [tool]}


def spawn(call_id: str, task: str, agent: str = "", **more: str) -> tuple[str, str, object]:
    named = {"agentDefinitionId": agent} if agent else {}
    return call_id, "spawn-agent", {"task": task, **named, **more}


async def events_of(
    document: Manifest,
    models: dict[str, Any],
    *agents: AgentDefinition,
    ledger: Ledger = NO_LEDGER,
    events: list[Event] | None = None,
) -> list[Event]:
    app = runs.application(
        document, predefined=PredefinedContent(agents={one.name: one for one in agents})
    )
    return await runs.events_of(app, models, QUESTION, ledger=ledger, events=events)


def of_subagents(events: Sequence[Event]) -> list[Event]:
    return [one for one in events if isinstance(one, SubagentStarted | SubagentEnded)]


class Model:
    """Answers each task from `answers`. A task that waits is in `entered`."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.entered = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        task = request.messages[1].text.split()[0].lower()
        self.asked.append(task)
        answer = self.answers[task]
        if answer is None:
            self.entered.set()
            await asyncio.Event().wait()
        yield [text(str(answer)), *finish(prompt=10, completion=1)]


@proves("D-01", "R-19")
async def test_the_model_is_told_of_the_kinds_and_the_subagent_of_its_task_and_context():
    lead = ScriptedModel(
        calling(spawn("1", "Look at the harbour.", "scout", context="It is winter.")),
        saying("Fine."),
    )
    scout = ScriptedModel(saying("It is frozen."))
    agent = AgentDefinition("scout", "Scout", "Looks ahead.", "You scout.", deployment_id="small")

    events = await events_of(spawning(), {"lead": lead, "small": scout}, agent)

    offered = lead.asked[0].tools[0]
    assert offered.name == "spawn-agent"
    assert offered.description.endswith(
        "Kinds of sub-agents, for agentDefinitionId:\n- scout: Looks ahead."
    )
    assert offered.parameters["properties"]["agentDefinitionId"]["enum"] == ["scout"]
    prompt, question = scout.asked[0].messages
    assert prompt.text.startswith("You scout.")
    assert question.text == "Look at the harbour.\n\nContext:\nIt is winter."
    assert list(scout.asked[0].tools) == []
    assert results(lead) == ["It is frozen."]
    began, ended = of_subagents(events)
    assert isinstance(began, SubagentStarted)
    assert (began.stage_id, began.name, began.agent) == ("1", "Look at the harbour.", "Scout")
    assert ended == SubagentEnded(began.key, "done", 1, 0)


@proves("D-24")
async def test_a_subagent_is_named_by_the_first_fifty_characters_of_its_task():
    task = "Look at  the\nharbour " + "and everything around it " * 5
    lead = ScriptedModel(calling(spawn("1", task)), saying("It is large."), saying("Fine."))

    events = await events_of(spawning(), {"lead": lead})

    began = of_subagents(events)[0]
    assert isinstance(began, SubagentStarted)
    assert began.name == "Look at the harbour and everything around it and ev"[:50]
    assert len(began.name) == 50


@proves("D-24")
async def test_subagents_work_at_the_same_time_and_a_failure_of_one_keeps_the_results_of_the_others():
    lead = ScriptedModel(
        calling(spawn("1", "slow road", "walker"), spawn("2", "quick road", "scout")),
        saying("Fine."),
    )
    small = Model(slow=None, quick="It is short.")
    scout = AgentDefinition("scout", "Scout", "Looks.", "You scout.", deployment_id="small")
    walker = replace(scout, name="walker", title="Walker", timeout_seconds=1)

    events = await events_of(spawning(), {"lead": lead, "small": small}, scout, walker)

    late, quick = results(lead)
    assert late.startswith("Error: ")
    assert "1 second" in late
    assert quick == "It is short."
    assert small.asked == ["slow", "quick"]
    assert [type(one).__name__ for one in of_subagents(events)][:2] == ["SubagentStarted"] * 2
    ended = [one.status for one in of_subagents(events) if isinstance(one, SubagentEnded)]
    assert ended == ["done", "failed"]


@proves("D-24")
async def test_a_subagent_that_a_person_stops_ends_alone_and_the_model_is_told():
    lead = ScriptedModel(
        calling(spawn("1", "slow road", "scout"), spawn("2", "quick road", "scout")),
        saying("Fine."),
    )
    small = Model(slow=None, quick="It is short.")
    agent = AgentDefinition("scout", "Scout", "Looks.", "You scout.", deployment_id="small")
    ledger = MemoryLedger()
    models = {"lead": lead, "small": small}

    going = asyncio.create_task(events_of(spawning(), models, agent, ledger=ledger))
    await asyncio.wait_for(small.entered.wait(), 60)
    ledger.stopping("t:1:0:1").set()
    events = await asyncio.wait_for(going, 60)

    stopped, quick = results(lead)
    assert stopped.startswith("Error: The user stopped this sub-agent.")
    assert quick == "It is short."
    ended = {one.key: one.status for one in of_subagents(events) if isinstance(one, SubagentEnded)}
    assert ended == {"t:1:0:1": "stopped", "t:1:1:2": "done"}


@proves("D-24")
async def test_a_subagent_is_cancelled_with_the_run_that_began_it():
    lead = ScriptedModel(calling(spawn("1", "slow road")))
    small = Model(slow=None)
    agent = AgentDefinition("scout", "Scout", "Looks.", "You scout.", deployment_id="small")
    lead = ScriptedModel(calling(spawn("1", "slow road", "scout")))
    events: list[Event] = []
    models = {"lead": lead, "small": small}

    going = asyncio.create_task(events_of(spawning(), models, agent, events=events))
    await asyncio.wait_for(small.entered.wait(), 60)
    going.cancel()
    with suppress(asyncio.CancelledError):
        await going

    assert [one.status for one in events if isinstance(one, SubagentEnded)] == ["stopped"]


@proves("D-24")
async def test_tokens_and_rounds_of_subagents_count_for_the_answer():
    lead = ScriptedModel(
        calling(spawn("1", "Look.")),
        [text("Seen."), *finish(prompt=7, completion=2)],
        saying("Ok."),
    )

    events = await events_of(spawning(), {"lead": lead})

    assert isinstance(events[-1], RunFinished)
    spent = events[-1].usage
    assert (spent.input, spent.output) == (7, 2)
    assert isinstance(spent, Usage)
    ended = next(one for one in events if isinstance(one, SubagentEnded))
    assert (ended.iterations, ended.prompt_tokens, ended.completion_tokens) == (1, 7, 2)


@proves("D-24")
async def test_a_subagent_cannot_ask_more_often_than_the_answer_has_left_and_leaves_one_call_to_it():
    endless = [calling((str(n), "none", {})) for n in range(2)]
    lead = ScriptedModel(calling(spawn("1", "Look.")), *endless, saying("I go on alone."))

    events = await events_of(spawning(limit=4), {"lead": lead})

    assert len(lead.asked) == 4
    assert results(lead)[0].startswith("Error: spawn-agent: ")
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == "I go on alone."


@proves("D-24")
async def test_the_rounds_of_subagents_end_an_answer_that_has_none_left():
    lead = ScriptedModel(
        calling(spawn("1", "Look.")), saying("Seen."), calling(("2", "none", {})), saying("Never.")
    )

    with pytest.raises(StepLimitReached):
        await events_of(spawning(limit=3), {"lead": lead})

    assert len(lead.asked) == 3


@proves("D-24")
async def test_a_subagent_has_no_question_no_list_and_no_subagents():
    lead = ScriptedModel(calling(spawn("1", "Look.")), saying("Seen."), saying("Ok."))
    features = {"questions": {}, "todo": {"enabled": True}, "memory": {"enabled": True}}

    await events_of(spawning(features=features), {"lead": lead}, SCOUT)

    assert {"spawn-agent", "manage-todo"} <= {tool.name for tool in lead.asked[0].tools}
    assert [tool.name for tool in lead.asked[1].tools] == []


@proves("D-24")
async def test_a_subagent_begins_others_if_its_kind_may_and_those_never_do():
    lead = ScriptedModel(
        calling(spawn("1", "Lead a part.", "chief")),
        calling(spawn("2", "Do it.", "chief")),
        saying("Done."),
        saying("The part is done."),
        saying("All is done."),
    )
    chief = AgentDefinition("chief", "Chief", "Leads.", "You lead a part.", may_spawn=True)

    events = await events_of(spawning(), {"lead": lead}, chief)

    offered = [[tool.name for tool in request.tools] for request in lead.asked]
    assert offered == [["spawn-agent"], ["spawn-agent"], [], ["spawn-agent"], ["spawn-agent"]]
    began = [one for one in events if isinstance(one, SubagentStarted)]
    assert [one.stage_id for one in began] == ["1", "1-2"]
    stages = {one.stage_id: one.parent_id for one in events if isinstance(one, StageOpened)}
    assert stages == {"1": None, "1-2": "1"}
    assert [one.iterations for one in events if isinstance(one, SubagentEnded)] == [1, 3]


@proves("D-25", "R-19")
async def test_a_kind_names_the_toolsets_that_it_has_and_brings_others():
    lead = ScriptedModel(calling(spawn("1", "Look.", "scout")), saying("Seen."), saying("Ok."))
    brought = DeploymentToolSet.model_validate(asking("expert"))
    agent = AgentDefinition(
        "scout", "Scout", "Looks.", "You scout.", toolsets=(), brings=("more",), brought=(brought,)
    )
    models = {"lead": lead, "expert": ScriptedModel(), "shop": ScriptedModel()}

    await events_of(spawning(asking("shop")), models, agent)

    lead_tools, scout_tools = ([tool.name for tool in one.tools] for one in lead.asked[:2])
    assert lead_tools == ["shop", "spawn-agent"]
    assert scout_tools == ["expert"]


@pytest.mark.parametrize(
    ("wanted", "agents"),
    [(None, ["scout", "judge"]), (["judge"], ["judge"]), (["gone"], None), ([], None)],
)
async def test_an_application_offers_the_kinds_that_it_names(wanted, agents):
    lead = ScriptedModel(saying("Ok."))
    judge = AgentDefinition("judge", "Judge", "Judges.", "You judge.")

    await events_of(spawning(agents=wanted), {"lead": lead}, SCOUT, judge)

    properties = lead.asked[0].tools[0].parameters["properties"]
    assert properties.get("agentDefinitionId", {}).get("enum") == agents


@proves("D-01")
@pytest.mark.parametrize(
    ("call", "told"),
    [(spawn("1", "  "), "task"), (spawn("1", "Look.", "gone"), "agentDefinitionId")],
)
async def test_a_task_that_says_nothing_and_a_kind_that_there_is_not_are_told(call, told):
    lead = ScriptedModel(calling(call), saying("Ok."))

    events = await events_of(spawning(), {"lead": lead}, SCOUT)

    assert told in results(lead)[0]
    assert of_subagents(events) == []


@proves("D-24")
async def test_a_finished_subagent_is_not_begun_again_when_another_process_goes_on():
    lead = ScriptedModel(
        calling(spawn("1", "quick road", "scout"), spawn("2", "late road", "scout")),
        saying("Fine."),
    )
    agent = AgentDefinition("scout", "Scout", "Looks.", "You scout.", deployment_id="small")
    first, second = Model(quick="Short.", late=None), Model(late="Long.")
    ledger = MemoryLedger()
    before: list[Event] = []
    going = asyncio.create_task(
        events_of(spawning(), {"lead": lead, "small": first}, agent, ledger=ledger, events=before)
    )
    async with asyncio.timeout(60):
        await first.entered.wait()
        while ledger.steps.get("t:1:0:1", None) is None or ledger.steps["t:1:0:1"].status != "done":
            await asyncio.sleep(0)
    ledger.room = len(ledger.records)  # nothing is recorded any more, as if the process had died
    going.cancel()
    with suppress(asyncio.CancelledError, Crash):
        await going
    ledger.room = None

    events = await events_of(spawning(), {"lead": lead, "small": second}, agent, ledger=ledger)

    assert second.asked == ["late"]
    assert results(lead) == ["Short.", "Long."]
    assert [one.key for one in events if isinstance(one, SubagentStarted)] == ["t:1:1:2"]
