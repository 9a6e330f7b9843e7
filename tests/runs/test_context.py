"""A conversation that exceeds the model's context window, from the manifest to the answer."""

import pytest

from apps.accounts.caller import Caller
from apps.agent.context.cut import LEFT_OUT
from apps.agent.events import Event, NoticeAdded, RunFinished, StateSaved
from apps.agent.messages import ModelMessage
from apps.errors import ContextTooLong
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.port import DeploymentInfo
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, saying
from tests.runs.test_run import application

CALLER = Caller("user-1", "user", user_id=1)
WORDS = "x" * 400


def conversation(turns):
    said = [
        ModelMessage(role, f"{role} {number} {WORDS}")
        for number in range(turns)
        for role in ("user", "assistant")
    ]
    return (ModelMessage("system", "Client."), *said, ModelMessage("user", "And now?"))


async def answer(model, window, turns=10, progress=None, *, context=None, **wishes):
    events: list[Event] = []
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    workspace.infos = {"gpt": DeploymentInfo("gpt", "gpt", context_window=window)}
    app = application(prompt="Be brief.", context=context or {})
    request = RunRequest(conversation(turns), **wishes)
    await run_application(app, request, workspace, CALLER, events.append, progress=progress)
    return events


@proves("D-32")
async def test_a_limit_of_the_client_tells_it_what_was_discarded():
    model = ScriptedModel(saying("Fine."))

    events = await answer(model, 100_000, turns=5, max_prompt_tokens=500)

    assert events[-1] == RunFinished("stop", discarded=(1, 2, 3, 4, 5, 6, 7, 8))
    assert len(model.asked[0].messages) == 1 + 2 * 1 + 1
    assert model.asked[0].messages[0] == ModelMessage("system", "Be brief.")


async def test_a_limit_that_is_not_reached_discards_nothing():
    events = await answer(ScriptedModel(saying("Fine.")), None, turns=1, max_prompt_tokens=50_000)

    assert events[-1] == RunFinished("stop", discarded=())


async def test_without_a_limit_of_its_own_a_client_reads_a_notice_and_no_statistics():
    events = await answer(ScriptedModel(saying("Fine.")), 1000, context={"strategy": "trim"})

    assert events[-1] == RunFinished("stop")
    assert [type(event) for event in events].count(NoticeAdded) == 1


@proves("D-32")
async def test_the_next_request_of_a_program_is_cut_at_the_same_place():
    first, second = ScriptedModel(saying("Fine.")), ScriptedModel(saying("Fine."))

    await answer(first, 1000, turns=10, context={"strategy": "trim"})
    await answer(second, 1000, turns=11, context={"strategy": "trim"})

    sent = first.asked[0].messages
    assert sent[1].text.startswith(LEFT_OUT)
    assert second.asked[0].messages[: len(sent) - 1] == sent[:-1]


async def test_a_program_gets_a_summary_for_its_request_alone():
    model = ScriptedModel(saying("They talked.", prompt=7), saying("Fine.", prompt=9))

    events = await answer(model, 1000)

    assert "They talked." in model.asked[1].messages[1].text
    assert events[-1].usage.input == 16
    assert not any("They talked." in str(e.state) for e in events if isinstance(e, StateSaved))


async def test_where_it_is_refused_nothing_is_asked():
    model = ScriptedModel()

    with pytest.raises(ContextTooLong):
        await answer(model, 1000, context={"strategy": "refuse"})

    assert model.asked == []
