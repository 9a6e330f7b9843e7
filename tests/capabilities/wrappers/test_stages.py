"""Stages of tool calls."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from django.utils.translation import gettext_lazy

from apps.agent.answers.tool_calls import GrowingCall
from apps.agent.events import Event, StageClosed, StageDelta, StageOpened, StageRenamed, TextDelta
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopLimits, LoopTools
from apps.agent.messages import ModelMessage
from apps.agent.progress import Progress
from apps.agent.stages import Announcement, open_stage
from apps.agent.tools import Invocation, ToolResult
from apps.agent.turn_stages import EarlyStage
from apps.capabilities.wrappers.display import Display, display_of
from apps.capabilities.wrappers.failure_handling import with_fallback
from apps.capabilities.wrappers.stages import with_stage
from apps.errors import InvalidParameter, ModelFailed, StepLimitReached, Stopped, ToolError
from apps.manifest.toolsets.fallback_strategies import Fallback, HardStop
from apps.manifest.toolsets.parameters import ParameterStage
from apps.manifest.toolsets.tools import ToolDisplay, ToolStage
from tests.capabilities.manifests import CALLER, manifest, opening_for, stage_text, timeless
from tests.capabilities.wrappers.calls import SPEC, answering, failing, saying, use
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, text
from tests.fakes import saying as answer
from tests.tables import each_row


def shown_as(**parameters: dict[str, Any]) -> Display:
    stages = {name: ParameterStage.model_validate(value) for name, value in parameters.items()}
    return Display("Weather", parameters=stages)


@proves("10.2", "m1.9", "G-15")
def test_the_request_shows_each_argument_as_the_manifest_says():
    display = shown_as(
        code={"format": "python", "name": "**Code:**", "order": 2},
        plain={"format": "", "ignore_parameter_name": True, "order": -1},
        hidden={"ignore": True},
        unit={"prefix": "<", "suffix": ">"},
        token={"replaced_value_info": "(kept)", "prefix": "[", "suffix": "]"},
        secret={"replaced_value_info": ""},
    )

    text = display.request(
        {
            "code": "print('```')",
            "hidden": "x",
            "unit": "m",
            "other": {"a": [1]},
            "token": "s",
            "secret": "s",
            "plain": "p",
        }
    )

    assert text == (
        "> #### Request:\n\r"
        "\n```\np\n```\n\n\r"
        "***unit:*** <m>\n\r"
        '***other:*** {"a":[1]}\n\r'
        "***token:*** [(kept)]\n\r"
        "***secret:*** \n\r"
        "**Code:**\n````python\nprint('```')\n````\n\n\r"
    )


@proves("10.2")
def test_a_long_argument_is_cut_with_a_notice():
    text = Display("T").request({"a": "x" * 4_005})

    assert text == f"> #### Request:\n\r***a:*** {'x' * 4_000}\n… (cut: 5 more characters)\n\r"


@proves("10.2")
def test_a_fence_is_longer_than_any_inside_and_its_language_cannot_end_it():
    display = shown_as(a={"format": "py`\n# x"})

    text = display.request({"a": "`````\n# head"})

    assert text == "> #### Request:\n\r***a:*** \n``````py#x\n`````\n# head\n``````\n\n\r"


@proves("10.1", "m1.8")
@each_row(
    ("stage", "arguments", "title"),
    [
        (None, {}, "Wetter"),
        (None, {"other": "x", "day": "Monday", "city": "Riga"}, "Wetter Riga"),
        (None, {"city": None, "day": "Monday"}, "Wetter Monday"),
        (None, {"city": "", "day": "Monday"}, "Wetter"),
        (ToolStage(name="Weather in: "), {"city": "Riga"}, "Weather in: Riga"),
        (ToolStage(name="{day}, {none}: "), {"day": "Mo", "city": 7}, "Mo, : 7"),
        (ToolStage(name="Hidden", show=False), {}, "Wetter"),
        (None, {"city": "a\n# b" + "x" * 200}, f"Wetter a # b{'x' * 94}…"),
        (None, {"city": ["a", 1]}, 'Wetter ["a",1]'),
    ],
)
def test_the_title_is_the_configured_or_the_localized_name_and_one_value(stage, arguments, title):
    display = replace(
        shown_as(city={"show_value_in_stage_title": True}, day={"show_value_in_stage_title": True}),
        name={"en": "Weather", "de": "Wetter"},
        stage=stage,
    )

    assert display.title(arguments, "de-AT") == title


@proves("10.2", "m1.8")
def test_a_configured_body_stands_in_for_the_request():
    display = Display("T", stage=ToolStage(body="Looking at **{city}** {gone}."))

    assert display.request({"city": "Riga"}) == "Looking at **Riga** .\n\n"


CALL = [StageOpened("call-1", "T"), StageDelta("call-1", "> #### Request:\n\r")]
ERROR = StageDelta("call-1", "> ##### Error:\n\n```text\nno\n```\n")
DONE, FAILED = StageClosed("call-1", 0.0), StageClosed("call-1", 0.0, failed=True)
EXCUSED = StageClosed("call-1", 0.0, excused=True)


@proves("6.2", "10.2", "10.3")
@pytest.mark.parametrize(
    ("visibility", "good", "bad"),
    [
        ("always", [*CALL, DONE], [*CALL, ERROR, EXCUSED]),
        ("failures", [], [*CALL, ERROR, EXCUSED]),
        ("never", [], []),
    ],
)
async def test_a_call_is_shown_always_or_when_it_fails_or_never(visibility, good, bad):
    seen: list[Event] = []
    display = Display("T", visibility)

    await use(with_stage(with_fallback(saying("ok"), Fallback()), display), seen.append)
    assert timeless(seen) == good
    seen.clear()

    await use(with_stage(with_fallback(failing(ToolError("no")), Fallback()), display), seen.append)
    assert timeless(seen) == bad


@proves("10.2", "G-14")
async def test_a_failure_that_leaves_the_wrapper_closes_the_stage_as_failed():
    for visibility in ("always", "failures"):
        for error, fallback in (
            (ToolError("no"), Fallback(strategies=(HardStop(),))),
            (InvalidParameter("n", "no"), Fallback()),
        ):
            seen: list[Event] = []
            tool = with_stage(with_fallback(failing(error), fallback), Display("T", visibility))

            with pytest.raises((Stopped, InvalidParameter)):
                await use(tool, seen.append)

            assert timeless(seen)[-1] == FAILED


@proves("10.1")
async def test_the_stage_of_a_call_tells_how_long_it_took_to_those_who_show_titles_alone():
    seen: list[Event] = []
    display = shown_as(**CODE)

    await use(with_stage(saying("ok"), display), seen.append)
    streamed_too, _ = await streamed(display, '{"code": "1"}')

    for events in (seen, streamed_too):
        closed = events[-1]
        assert isinstance(closed, StageClosed)
        assert (closed.is_timed, replace(closed, seconds=61.239).time) == (True, " [61.24s]")


@proves("10.3")
async def test_stages_inside_a_hidden_call_are_hidden_too():
    def work(invocation: Invocation) -> ToolResult:
        with open_stage(invocation.emit, "inner", "Inner", invocation.id):
            return ToolResult("ok")

    for visibility in ("never", "failures"):
        seen: list[Event] = []
        await use(with_stage(answering(work), Display("T", visibility)), seen.append)
        assert seen == []


@proves("10.3")
@each_row(
    ("installation", "application", "is_system", "show", "visibility"),
    [
        ("", None, False, True, "always"),
        ("", "info", False, True, "always"),
        ("", "info", False, False, "failures"),
        ("", "info", True, True, "failures"),
        ("", "debug", True, True, "always"),
        ("", "error", False, True, "failures"),
        ("", "none", False, True, "never"),
        ("debug", "none", True, True, "always"),
        ("none", "debug", False, True, "never"),
    ],
)
def test_the_installations_level_wins_over_the_applications(
    installation, application, is_system, show, visibility, settings
):
    settings.DEFAULT_STAGE_DISPLAY_LEVEL = installation
    features = {"stage_display": {"level": application}} if application else None
    stage = ToolDisplay(stage=ToolStage(show=show))

    display = display_of(manifest(features=features), "T", tool=stage, system=is_system)

    assert display.visibility == visibility


@proves("10.4")
async def test_the_title_is_in_the_language_of_the_caller():
    seen: list[Event] = []
    tool = with_stage(saying("ok"), Display({"en": "Parcels", "de": "Pakete"}))
    opening = opening_for(CALLER.at(locale="de"))

    await tool.bind(opening).call(Invocation("call-1", {}, (), seen.append))

    assert seen[0] == StageOpened("call-1", "Pakete")
    assert stage_text(seen) == "> #### Request:\n\r"


@pytest.mark.parametrize(
    ("locale", "title"),
    [
        ("de-AT", "Aufgabenliste Einkauf"),
        ("fr", "To-do list Einkauf"),
        ("", "To-do list Einkauf"),
    ],
)
def test_the_title_of_a_built_in_tool_is_translated_for_the_caller(locale, title):
    shown = {"text": ParameterStage(show_value_in_stage_title=True)}
    display = Display(gettext_lazy("To-do list"), parameters=shown)

    assert display.title({"text": "Einkauf"}, locale) == title
    assert display.beginning(locale) == title.removesuffix(" Einkauf")


async def streamed(
    display: Display, *pieces: str, streams: str = "code"
) -> tuple[list[Event], Announcement | None]:
    """Return the stages of a call whose arguments arrive in these pieces, and how it began."""
    seen: list[Event] = []
    tool = replace(answering(lambda invocation: ToolResult("ok")), streams=streams)
    bound = with_stage(tool, display).bind(opening_for())
    if bound.announcement is None:
        return seen, None
    early = EarlyStage(GrowingCall(0, "call-1"), bound.announcement, seen.append)
    for piece in pieces:
        early.feed(piece)
    arguments = json.loads("".join(pieces))
    invocation = Invocation("call-1", arguments, (), seen.append, early=early)
    await bound.call(invocation)
    return timeless(seen), bound.announcement


CODE = {"code": {"format": "python", "ignore_parameter_name": True}}
TITLED = {"title": {"show_value_in_stage_title": True, "ignore": True}}


@proves("5")
async def test_a_streamed_argument_looks_as_one_that_arrived_whole():
    seen, announcement = await streamed(
        shown_as(**CODE, **TITLED), '{"code": "1 +', ' 2"', ', "unit": "m", "title": "Adds"}'
    )

    assert announcement == Announcement("Weather", "code", "> #### Request:\n\r\n````python\n")
    assert seen[0] == StageOpened("call-1", "Weather")
    assert StageRenamed("call-1", " Adds") in seen
    assert stage_text(seen) == (
        "> #### Request:\n\r\n````python\n1 + 2\n````\n\n\r***unit:*** m\n\r"
    )
    assert seen[-1] == DONE


@proves("5")
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("a" * 4_005, f"{'a' * 4_000}\n… (cut: 5 more characters)\n````\n\n\r"),
        ("a````b", "\n````\n\n\r> #### Request:\n\r\n`````python\na````b\n`````\n\n\r"),
    ],
)
async def test_a_streamed_argument_that_cannot_be_shown_as_it_came_is_shown_all_the_same(
    code, shown
):
    seen, _ = await streamed(shown_as(**CODE), '{"code": "', code[:1], f'{code[1:]}"}}')

    start = "" if shown.startswith("a") else "a"
    assert stage_text(seen) == f"> #### Request:\n\r\n````python\n{start}{shown}"


@proves("5", "10.1")
@each_row(
    ("display", "title", "argument"),
    [
        (shown_as(code={"format": "python", "ignore": True}), "Weather", ""),
        (shown_as(code={"format": "python", "replaced_value_info": "x"}), "Weather", ""),
        (shown_as(code={"format": "python", "replaced_value_info": ""}), "Weather", ""),
        (shown_as(), "Weather", ""),
        (replace(shown_as(**CODE), stage=ToolStage(body="{code}")), "Weather", ""),
        (replace(shown_as(**CODE), stage=ToolStage(name="In {city}: ")), "In ", "code"),
        (replace(shown_as(**CODE), stage=ToolStage(name="{city}")), None, ""),
        (replace(shown_as(**CODE), visibility="failures"), None, ""),
        (replace(shown_as(**CODE), visibility="never"), None, ""),
    ],
)
async def test_only_what_is_sure_to_be_shown_begins_early(display, title, argument):
    _, announcement = await streamed(display, '{"code": "1", "city": "Riga"}')

    assert (announcement.title if announcement else None) == title
    assert (announcement.argument if announcement else "") == argument


async def shown_in_a_run(visibility: Any, *answers: list[Any]) -> list[Event]:
    """Return the events of a run whose tool keeps its stage open."""
    seen: list[Event] = []
    display = Display("T", visibility, ToolStage(defer_close=True))
    bound = with_stage(saying("ok"), display).bind(opening_for())
    loop = AgentLoop(
        ScriptedModel(*answers),
        "gpt",
        LoopTools({SPEC.name: bound}),
        limits=LoopLimits(iterations=2),
    )
    with suppress(ModelFailed, StepLimitReached):
        await loop.run([ModelMessage("user", "Go")], seen.append, Progress())
    return timeless(seen)


ASKED = calling(("call-1", SPEC.name, {}))


@proves("5")
async def test_a_stage_that_stays_open_is_closed_after_the_next_answer():
    begun = [StageOpened("call-1", "T"), StageDelta("call-1", "> #### Request:\n\r")]
    cut = ModelFailed("cut", reason="stream")

    assert await shown_in_a_run("always", ASKED, answer("12")) == [*begun, TextDelta("12"), DONE]
    assert await shown_in_a_run("always", ASKED, [text("1"), cut]) == [
        *begun,
        TextDelta("1"),
        FAILED,
    ]
    again = calling(("call-2", SPEC.name, {}))
    assert [
        e for e in await shown_in_a_run("always", ASKED, again) if isinstance(e, StageClosed)
    ] == [DONE, StageClosed("call-2", 0.0, failed=True)]
    assert await shown_in_a_run("failures", ASKED, answer("12")) == [TextDelta("12")]


@proves("10.2")
async def test_a_stage_that_began_early_or_stays_open_is_excused_as_others_are():
    tool = with_fallback(failing(ToolError("no")), Fallback())
    seen: list[Event] = []

    early = EarlyStage(GrowingCall(0, "call-1"), Announcement("T"), seen.append)
    bound = with_stage(tool, Display("T")).bind(opening_for())
    await bound.call(Invocation("call-1", {}, (), seen.append, early=early))
    assert timeless(seen) == [StageOpened("call-1", "T"), CALL[1], ERROR, EXCUSED]
    seen.clear()

    bound = with_stage(tool, Display("T", stage=ToolStage(defer_close=True))).bind(opening_for())
    loop = AgentLoop(
        ScriptedModel(ASKED, answer("12")),
        "gpt",
        LoopTools({SPEC.name: bound}),
        limits=LoopLimits(iterations=2),
    )
    await loop.run([ModelMessage("user", "Go")], seen.append, Progress())
    assert timeless(seen) == [*CALL, ERROR, TextDelta("12"), EXCUSED]
