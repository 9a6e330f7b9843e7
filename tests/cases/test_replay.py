"""Answers of models and tools are recorded once, and replayed without calling them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.agent.tools import Tool, ToolResult
from apps.capabilities.registry import Contribution, PreparedCapabilities
from apps.cases.attempts import FinishedAttempt, try_case
from apps.cases.expectations import read_expectations
from apps.cases.judging import CalledTool, FailedExpectation
from apps.cases.player import MAY_WRITE, Mode, Player
from apps.cases.recording import Recording, read_recording
from apps.cases.request_forms import Mask
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import InvalidParameter, ModelFailed
from apps.manifest.validation.validation import read_manifest
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying, tool

CALLER = Caller("case-1", "key")
QUESTION = ModelMessage("user", "How warm is it in Riga on 2026-11-24 at 10:15?")
LATER = ModelMessage("user", "How warm is it in Riga on 2026-11-25 at 09:01?")
CALL = calling(("1", "weather", {"city": "Riga", "key": "s3cret-of-ours"}))
MASK = Mask(("s3cret-of-ours",))


def application(*tools: Tool, prompt: str = "Be brief.", remote: bool = False):
    opener = ("mcp" if remote else "rest", lambda opening: nullcontext(Contribution(tuple(tools))))
    document = {
        "orchestrator": {
            "deployment": {"deployment_id": "gpt"},
            "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
        },
        "contexts": [],
        "tool_sets": [],
    }
    return ResolvedApplication(
        1,
        "travel",
        "Travel",
        "",
        True,
        1,
        read_manifest(document),
        PreparedCapabilities((opener,), ()),
    )


class CountedTool:
    def __init__(self, *, read_only: bool = False, fails: bool = False) -> None:
        self.calls: list[Any] = []
        self.fails = fails
        self.tool = replace(tool("weather", self.answer), is_read_only=read_only)

    def answer(self, arguments: Any) -> str | ToolResult:
        self.calls.append(arguments)
        if self.fails:
            raise InvalidParameter("city", "is unknown")
        return f"{arguments['city']}: 12 degrees, s3cret-of-ours"


async def attempt(
    app: ResolvedApplication,
    model: ScriptedModel,
    mode: Mode,
    tape: Recording | None = None,
    message: ModelMessage = QUESTION,
    expect: Any = (),
) -> FinishedAttempt:
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model, "judge": model}
    player = Player(mode, tape or Recording(), MASK)
    wanted = read_expectations(list(expect))
    return await try_case([message], wanted, app, workspace, player, CALLER)


async def recorded(app: ResolvedApplication, *scripts: Any, **also: Any) -> FinishedAttempt:
    return await attempt(app, ScriptedModel(*scripts), "live", **also)


def stored(trial: FinishedAttempt) -> Recording:
    """Return the recording as stored in the database."""
    return read_recording(trial.player.new_recording.write())


async def test_a_replay_says_the_same_and_asks_nobody_whatever_the_date():
    weather, silent = CountedTool(), ScriptedModel()
    app = application(weather.tool)
    live = await recorded(app, CALL, saying("12 degrees.", prompt=9, completion=3))

    again = await attempt(app, silent, "replay", stored(live), LATER)

    assert (live.failures, again.failures) == ([], [])
    assert (again.attempt.text, again.attempt.tokens) == ("12 degrees.", 12)
    arguments = {"city": "Riga", "key": "s3cret-of-ours"}
    assert live.attempt.tools == (CalledTool("weather", arguments),)
    assert (len(weather.calls), silent.asked) == (1, [])


async def test_no_secret_is_in_a_recording():
    live = await recorded(application(CountedTool().tool), CALL, saying("s3cret-of-ours"))

    assert "s3cret" not in str(live.player.new_recording.write())


async def test_a_changed_prompt_is_not_in_the_recording_and_the_failure_says_what_differs():
    live = await recorded(application(), saying("Hello."))

    again = await attempt(application(prompt="Be long."), ScriptedModel(), "replay", stored(live))

    (failure,) = again.failures
    assert failure.kind == "recording"
    assert failure.text.startswith(
        "The model's call 1 is not in the recording. The system prompt (system) was recorded as "
    )
    assert "Be brief." in failure.text
    assert "Be long." in failure.text


async def test_without_a_recording_the_failure_says_what_to_do():
    again = await attempt(application(), ScriptedModel(), "replay")

    text = "This test case has no recording. Run it live and record it first."
    assert again.failures == [FailedExpectation("recording", text)]


async def test_the_errors_of_tools_and_models_are_replayed_too():
    weather = CountedTool(fails=True)
    app = application(weather.tool)
    down = ModelFailed("Down.", status=400)
    live = await recorded(app, CALL, [down])

    again = await attempt(app, ScriptedModel(), "replay", stored(live))

    assert len(weather.calls) == 1
    assert again.attempt.problems == ()
    assert again.failures == live.failures
    assert live.failures[0].kind == "error"


async def test_models_are_asked_live_while_tools_answer_from_the_recording():
    weather = CountedTool()
    app = application(weather.tool)
    live = await recorded(app, CALL, saying("12 degrees."))
    model = ScriptedModel(CALL, saying("It is warm."))

    again = await attempt(app, model, "models", stored(live))

    assert (again.attempt.text, again.failures) == ("It is warm.", [])
    assert len(weather.calls) == 1
    assert model.asked[1].messages[-1].text == "Riga: 12 degrees, (hidden)"


async def test_an_unrecorded_call_is_made_only_if_the_tool_changes_nothing():
    reading, writing = CountedTool(read_only=True), CountedTool()
    script = (CALL, saying("Done."))

    found = await attempt(application(reading.tool), ScriptedModel(*script), "models")
    model = ScriptedModel(*script)
    refused = await attempt(application(writing.tool), model, "models")

    assert (len(reading.calls), found.failures) == (1, [])
    assert (len(writing.calls), refused.player.refused) == (0, ["weather"])
    assert model.asked[1].messages[-1].text == f"Error: {MAY_WRITE}"
    assert refused.failures == [
        FailedExpectation("recording", "A call of the tool weather is not in the recording.")
    ]


async def test_the_tools_of_a_server_are_those_of_the_recording():
    weather = CountedTool()
    live = await recorded(application(weather.tool, remote=True), CALL, saying("12 degrees."))

    def unreachable(opening: Any) -> Any:
        raise AssertionError("a replay opens no session")

    gone = application(remote=True)
    gone = replace(gone, prepared=PreparedCapabilities((("mcp", unreachable),), ()))
    again = await attempt(gone, ScriptedModel(), "replay", stored(live))

    assert (again.attempt.text, again.failures) == ("12 degrees.", [])


async def test_a_judge_is_recorded_like_any_model():
    expect = [{"kind": "judged", "sentence": "It is polite.", "deployment": "judge"}]
    said = saying('{"reason": "It says hello.", "true": true}')
    no = saying('{"reason": "It is curt.", "true": false}')
    live = await recorded(application(), saying("Hello."), said, expect=expect)
    again = await attempt(application(), ScriptedModel(), "replay", stored(live), expect=expect)
    curt = await recorded(application(), saying("What?"), no, expect=expect)

    assert (live.failures, again.failures) == ([], [])
    assert curt.failures == [
        FailedExpectation("judged", "“It is polite.” is not true: It is curt.")
    ]
