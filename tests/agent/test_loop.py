import asyncio
import json
import sys
import tracemalloc
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    ModelUsage,
    StageClosed,
    StageOpened,
    TextDelta,
    ToolCallsRequested,
)
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopLimits, LoopSteps, LoopTools, RequestOptions
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.progress import Progress
from apps.agent.stages import open_stage
from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.errors import (
    InvalidParameter,
    ModelFailed,
    NotApproved,
    StepLimitReached,
    Stopped,
    ToolError,
    ToolsKeepFailing,
)
from tests.contract import proves
from tests.fakes import (
    MemoryLedger,
    ScriptedModel,
    async_tool,
    calling,
    finish,
    saying,
    spec,
    text,
    timeless,
    tool,
)
from tests.tables import each_row

QUESTION = ModelMessage("user", "How warm is it in Riga?")
RIGA = '{"city": "Riga"}'
WEATHER = tool("weather", lambda arguments: f"{arguments['city']}: 12")


def loop_of(model: ScriptedModel, *tools, external=None, static=(), **options) -> AgentLoop:
    listed = {tool.spec.name: tool for tool in tools}
    return AgentLoop(
        model, "gpt", LoopTools(listed, external=external or {}, static=static), **options
    )


async def answers_to(*wanted: tuple[str, str, object], tools=(WEATHER,)) -> list[str]:
    """Return the results of its calls that the model reads."""
    progress = Progress()
    model = ScriptedModel(calling(*wanted), saying("Done"))
    await loop_of(model, *tools).run([QUESTION], lambda event: None, progress)
    return [message.text for message in progress.conversation.added if message.role == "tool"]


@proves("T-01", "D-05")
async def test_the_result_of_a_tool_is_shown_to_the_model_before_it_answers():
    call = ("call-1", "weather", '{"city": "Riga"}')
    model = ScriptedModel(calling(call), saying("12 degrees"))
    events: list[Event] = []
    progress = Progress()

    reason = await loop_of(model, WEATHER).run([QUESTION], events.append, progress)

    asked = ModelMessage("assistant", " ", tool_calls=(ToolCall(*call),))
    result = ModelMessage("tool", "Riga: 12", tool_call_id="call-1")
    assert reason == "stop"
    assert [list(request.messages) for request in model.asked] == [
        [QUESTION],
        [QUESTION, asked, result],
    ]
    assert progress.conversation.added == [asked, result, ModelMessage("assistant", "12 degrees")]
    assert events == [TextDelta("12 degrees")]


async def test_a_call_whose_answer_ends_with_stop_is_made():
    [call, _, *rest] = calling(("1", "weather", RIGA))
    model = ScriptedModel([call, *finish("stop"), *rest], saying("12 degrees"))
    progress = Progress()

    await loop_of(model, WEATHER).run([QUESTION], lambda event: None, progress)

    assert [message.text for message in progress.conversation.added] == [
        " ",
        "Riga: 12",
        "12 degrees",
    ]


async def test_a_tool_that_appears_during_the_run_is_told_of_and_called_from_then_on():
    tools = {}

    def add(arguments) -> str:
        tools["weather"] = WEATHER
        return "There is a weather tool."

    tools["search"] = tool("search", add)
    call = ("2", "weather", {"city": "Riga"})
    model = ScriptedModel(calling(("1", "search", {})), calling(call), saying("12 degrees"))
    progress = Progress()

    await AgentLoop(model, "gpt", LoopTools(tools)).run([QUESTION], lambda event: None, progress)

    listed = [[spec.name for spec in request.tools] for request in model.asked]
    assert listed == [["search"], ["search", "weather"], ["search", "weather"]]
    assert progress.conversation.added[3] == ModelMessage("tool", "Riga: 12", tool_call_id="2")


async def test_the_sources_of_an_answer_are_told_with_it():
    events: list[Event] = []
    source = AnnotationAdded({"type": "url_citation"})

    loop = loop_of(ScriptedModel([source, *saying("12 degrees")]))
    await loop.run([QUESTION], events.append, Progress())

    assert events == [TextDelta("12 degrees"), source]


async def test_an_unlisted_tool_answers_although_the_model_is_not_told_of_it():
    model = ScriptedModel(calling(("1", "weather", {"city": "Riga"})), saying("12 degrees"))
    progress = Progress()

    loop = AgentLoop(model, "gpt", LoopTools(unlisted={"weather": WEATHER}))
    await loop.run([QUESTION], lambda event: None, progress)

    assert [list(request.tools) for request in model.asked] == [[], []]
    assert progress.conversation.added[1] == ModelMessage("tool", "Riga: 12", tool_call_id="1")


@proves("5", "T-06")
async def test_an_empty_line_stands_between_the_texts_of_two_answers():
    call = calling(("1", "weather", {"city": "Riga"}))
    model = ScriptedModel([text("I look."), *call], call, saying("It is 12."))
    events: list[Event] = []

    await loop_of(model, WEATHER).run([QUESTION], events.append, Progress())

    assert events == [TextDelta("I look."), TextDelta("\n\n"), TextDelta("It is 12.")]


@proves("4", "G-07", "D-20")
async def test_calls_run_at_the_same_time_and_their_results_keep_their_order():
    second_is_done = asyncio.Event()

    async def waits(invocation: Invocation) -> ToolResult:
        await second_is_done.wait()
        return ToolResult("first")

    async def goes_ahead(invocation: Invocation) -> ToolResult:
        second_is_done.set()
        return ToolResult("second")

    tools = (async_tool("slow", waits), async_tool("quick", goes_ahead))

    async with asyncio.timeout(60):
        found = await answers_to(("1", "slow", {}), ("2", "quick", {}), tools=tools)

    assert found == ["first", "second"]


@proves("4", "G-12", "T-07")
async def test_an_unknown_tool_is_answered_with_how_to_go_on():
    assert await answers_to(("1", "wether", {}), ("2", "weather", {"city": "Riga"})) == [
        "Unknown tool 'wether'.\n\nThis tool does not exist. Check the tool name and try again. "
        "The tools are: weather.",
        "Riga: 12",
    ]


@proves("4")
async def test_a_tool_with_something_around_its_name_is_called_by_its_own_name():
    """A name of valid characters is sent back unchanged: services accept it, and the result repeats
    it."""
    model = ScriptedModel(
        calling(("1", "functions.weather", {"city": "Riga"}), ("2", "functions.clock", {})),
        saying("."),
    )
    progress = Progress()

    await loop_of(model, WEATHER).run([QUESTION], lambda event: None, progress)

    asked = model.asked[1].messages[1]
    assert [call.name for call in asked.tool_calls] == ["weather", "functions_clock"]
    assert [message.text for message in progress.conversation.added[1:3]] == [
        "Riga: 12",
        "Unknown tool 'functions_clock'.\n\nThis tool does not exist. "
        "Check the tool name and try again. The tools are: weather.",
    ]


async def test_what_goes_back_to_the_service_has_the_text_of_an_object_as_arguments():
    model = ScriptedModel(calling(("1", "weather", '{"city": "Ri')), saying("."))
    progress = Progress()

    await loop_of(model, WEATHER).run([QUESTION], lambda event: None, progress)

    (call,) = model.asked[1].messages[1].tool_calls
    assert json.loads(call.arguments) == {"unreadable_arguments": '{"city": "Ri'}


async def test_a_clients_tool_is_not_called_with_arguments_that_cannot_be_read():
    model = ScriptedModel(calling(("1", "paint", '{"colour": "re')), saying("."))
    events: list[Event] = []
    paint = ToolSpec("paint", "", {})

    await loop_of(model, external={"paint": paint}).run([QUESTION], events.append, Progress())

    assert not any(isinstance(event, ToolCallsRequested) for event in events)
    assert model.asked[1].messages[2].text.startswith("Error: The arguments are not valid JSON: ")


@proves("6.2", "T-07")
async def test_a_wrong_argument_is_to_be_corrected():
    async def refuse(invocation: Invocation) -> ToolResult:
        raise InvalidParameter("city", "it is no city.")

    model = ScriptedModel(calling(("1", "weather", {"city": "R"})), saying("."))
    progress = Progress()

    await loop_of(model, async_tool("weather", refuse)).run(
        [QUESTION], lambda event: None, progress
    )

    assert progress.conversation.added[1].text == (
        "Error: Parameter city is invalid: it is no city.\n\nCorrect it and call the tool again."
    )


@proves("4")
async def test_a_tool_that_the_models_service_runs_is_said_to_run_there(caplog):
    search = {"type": "static_function", "static_function": {"name": "search"}}
    model = ScriptedModel(
        calling(("1", "search", {"q": "s3cret"}), ("2", "weather", {"city": "Riga"})), saying(".")
    )
    progress = Progress()

    await loop_of(model, WEATHER, static=[search]).run([QUESTION], lambda event: None, progress)

    assert [message.text for message in progress.conversation.added[1:3]] == [
        "The tool 'search' runs at the model's service itself and cannot be called from here. "
        "Continue without calling it.",
        "Riga: 12",
    ]
    assert [(r.levelname, r.getMessage()) for r in caplog.records if r.levelname != "INFO"] == [
        ("WARNING", "The model called tools that its service runs: ['search']")
    ]


async def test_unknown_tools_of_an_answer_are_one_error_in_the_log(caplog):
    wanted = [("1", "wether", {"a": "s3cret"}), ("2", "clock", {}), ("3", "weather", {"city": "R"})]

    await answers_to(*wanted)

    assert [(r.levelname, r.getMessage()) for r in caplog.records if r.levelname != "INFO"] == [
        ("ERROR", "The model called unknown tools: ['clock', 'wether']; known: ['weather']")
    ]


async def test_the_result_of_an_unknown_tool_is_not_worked_on():
    async def shout(call: ToolCall, result: ToolResult) -> ToolResult:
        return replace(result, content=result.content.upper())

    progress = Progress()
    model = ScriptedModel(
        calling(("1", "wether", {}), ("2", "weather", {"city": "R"})), saying(".")
    )

    await loop_of(model, WEATHER, steps=LoopSteps(results=[shout])).run(
        [QUESTION], lambda event: None, progress
    )

    assert progress.conversation.added[1].text.startswith("Unknown tool 'wether'.")
    assert progress.conversation.added[2].text == "R: 12"


@proves("T-06")
async def test_an_answer_without_a_word_is_kept_as_a_space():
    model = ScriptedModel(calling(("1", "weather", {"city": "R"})), [finish()])
    progress = Progress()

    await loop_of(model, WEATHER).run([QUESTION], lambda event: None, progress)

    assert [message.content for message in progress.conversation.added] == [" ", "R: 12", " "]


@pytest.mark.parametrize("failed", [False, True])
async def test_a_stage_that_stays_open_closes_when_the_next_answer_is_complete(failed):
    async def defers(invocation: Invocation) -> ToolResult:
        block = open_stage(invocation.emit, invocation.id, "Looking")
        assert invocation.defer is not None
        invocation.defer(block.__enter__(), block)
        return ToolResult("Seen.")

    end: list[object] = [ModelFailed("cut")] if failed else [finish()]
    model = ScriptedModel(calling(("1", "look", {})), [text("It"), *end])
    events: list[Event] = []

    with suppress(ModelFailed):
        await loop_of(model, async_tool("look", defers)).run([QUESTION], events.append, Progress())

    assert timeless(events) == [
        StageOpened("1", "Looking"),
        TextDelta("It"),
        StageClosed("1", 0.0, failed=failed),
    ]


@proves("4", "G-12", "T-07")
@pytest.mark.parametrize("written", ['{"city": ', "NaN", "[" * 100_000, "{} {"])
async def test_arguments_that_are_no_json_are_answered_with_the_reason(written):
    (found,) = await answers_to(("1", "weather", written))

    assert found.startswith("Error: The arguments are not valid JSON: ")
    assert found.endswith("Send one JSON object.")


@each_row(
    ("written", "problem"),
    [
        (
            '{"city": "' + "Riga, " * 1_000 + '" "country": "Latvia"}',
            "not valid JSON: JSON is malformed: expected ',' or '}' (byte 6012). The tool was not "
            "called.",
        ),
        (
            '{"city": "' + "Riga, " * 1_000,
            "not valid JSON: Input data was truncated. The tool was not called.",
        ),
        (json.dumps(["Riga"] * 1_000), "a JSON list."),
    ],
)
async def test_the_reason_does_not_depend_on_the_size_of_the_arguments(written, problem):
    (found,) = await answers_to(("1", "weather", written))

    assert found == f"Error: The arguments are {problem} Send one JSON object."


@proves("4")
@pytest.mark.parametrize(
    ("written", "kind"), [("[1]", "list"), ('"x"', "str"), ("3", "int"), ('"\\ud800"', "str")]
)
async def test_arguments_that_are_no_object_are_answered_with_what_they_are(written, kind):
    assert await answers_to(("1", "weather", written)) == [
        f"Error: The arguments are a JSON {kind}. Send one JSON object."
    ]


async def test_halves_of_characters_reach_neither_a_tool_nor_the_model():
    echo = tool("echo", lambda arguments: arguments["said"] + "\ud800é")

    found = await answers_to(("1", "echo", '{"said": "a\\ud83d"}'), tools=(echo,))

    assert found == ["a\ufffd\ufffdé"]


@proves("4")
async def test_no_arguments_at_all_are_an_empty_object():
    ping = tool("ping", lambda arguments: f"pong {dict(arguments)}")

    assert await answers_to(("1", "ping", ""), tools=(ping,)) == ["pong {}"]


@proves("4", "G-14", "T-07", "D-20", "R-03")
async def test_a_tool_that_fails_leaves_its_siblings_alone():
    async def refuses(invocation: Invocation) -> ToolResult:
        raise ToolError("No such city.")

    async def breaks(invocation: Invocation) -> ToolResult:
        raise RuntimeError("a secret of the server")

    tools = (async_tool("refuses", refuses), async_tool("breaks", breaks), WEATHER)
    wanted = [("1", "refuses", {}), ("2", "breaks", {}), ("3", "weather", {"city": "Riga"})]

    assert await answers_to(*wanted, tools=tools) == [
        "Error: No such city.",
        "Error: the tool failed unexpectedly.",
        "Riga: 12",
    ]


@proves("4")
async def test_a_tool_that_cancels_itself_fails_and_the_run_goes_on():
    async def cancels(invocation: Invocation) -> ToolResult:
        raise asyncio.CancelledError

    tools = (async_tool("cancels", cancels), WEATHER)

    found = await answers_to(("1", "cancels", {}), ("2", "weather", {"city": "Riga"}), tools=tools)

    assert found == ["Error: the tool failed unexpectedly.", "Riga: 12"]


@proves("4", "R-03")
async def test_a_tool_that_stops_the_run_lets_the_others_finish_first():
    async def stops(invocation: Invocation) -> ToolResult:
        raise Stopped

    model = ScriptedModel(calling(("1", "stops", {}), ("2", "weather", {"city": "Riga"})))
    progress = Progress()

    with pytest.raises(Stopped):
        await loop_of(model, async_tool("stops", stops), WEATHER).run(
            [QUESTION], lambda event: None, progress
        )

    assert [message.text for message in progress.conversation.added] == [
        " ",
        str(Stopped()),
        "Riga: 12",
    ]
    assert len(model.asked) == 1


@proves("4", "G-08", "T-02", "R-01", "D-04")
async def test_a_limit_of_n_is_n_questions_to_the_model():
    call = calling(("1", "weather", {"city": "Riga"}))
    model = ScriptedModel(*[call] * 3)
    progress = Progress()

    with pytest.raises(StepLimitReached) as caught:
        await loop_of(model, WEATHER, limits=LoopLimits(iterations=2)).run(
            [QUESTION], lambda event: None, progress
        )

    assert (caught.value.limit, len(model.asked), len(progress.conversation.added)) == (2, 2, 4)


def refuse(arguments: Mapping[str, Any]) -> str:
    if arguments["city"] == "nowhere":
        raise ToolError("There is no such city.")
    if arguments["city"] == "forbidden":
        raise NotApproved("The person did not approve this call.")
    if arguments["city"] == "misspelt":
        raise InvalidParameter("city", "There is no such city.")
    return f"{arguments['city']}: 12"


def turn_of(*cities: str) -> Any:
    return calling(*((city, "weather", {"city": city}) for city in cities))


@proves("T-06")
@pytest.mark.parametrize(
    ("turns", "asked"),
    [
        ([["nowhere"], ["nowhere", "nowhere"], ["Riga"]], 2),
        ([["nowhere"], ["Riga"], ["nowhere"], ["Riga"]], 5),
        ([["nowhere"], ["nowhere", "Riga"], ["nowhere"]], 4),
        ([["nowhere"], ["forbidden"], ["nowhere"], ["forbidden"]], 5),
        ([["nowhere"], ["misspelt"], ["misspelt"], ["misspelt"]], 5),
    ],
)
async def test_t_06_a_run_ends_after_two_turns_in_a_row_whose_calls_have_all_failed(turns, asked):
    model = ScriptedModel(*(turn_of(*cities) for cities in turns), saying("Done"))
    loop = loop_of(model, tool("weather", refuse), limits=LoopLimits(failed_turns=2))
    progress = Progress()

    with suppress(ToolsKeepFailing):
        await loop.run([QUESTION], lambda event: None, progress)

    assert len(model.asked) == asked
    assert progress.counts.failed_turns == (2 if asked == 2 else 0 if asked == 5 else 1)


@proves("T-03")
@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
async def test_t_03_the_reason_with_which_the_model_ends_is_that_of_the_run(reason):
    model = ScriptedModel(
        calling(("1", "weather", {"city": "Riga"})), [text("12"), *finish(reason)]
    )

    ended = await loop_of(model, WEATHER).run([QUESTION], lambda event: None, Progress())

    assert ended == reason


@proves("4", "R-01", "R-02")
async def test_minus_one_is_no_limit():
    call = calling(("1", "weather", {"city": "Riga"}))
    model = ScriptedModel(*[call] * 500, saying("At last"))

    reason = await loop_of(model, WEATHER, limits=LoopLimits(iterations=-1)).run(
        [QUESTION], lambda event: None, Progress()
    )

    assert (reason, len(model.asked)) == ("stop", 501)


@proves("4")
async def test_parameters_of_the_first_question_are_not_repeated():
    model = ScriptedModel(calling(("1", "weather", {"city": "Riga"})), saying("Done"))
    loop = loop_of(
        model,
        WEATHER,
        request_options=RequestOptions(
            parameters={"seed": 1}, first_parameters={"tool_choice": "required"}
        ),
    )

    await loop.run([QUESTION], lambda event: None, Progress())

    assert [dict(request.parameters) for request in model.asked] == [
        {"seed": 1, "tool_choice": "required"},
        {"seed": 1},
    ]


async def test_a_client_that_insists_on_its_tools_cannot_be_met_by_the_applications_for_ever():
    own = ("1", "weather", {"city": "Riga"})
    model = ScriptedModel(calling(own), calling(own), calling(("2", "locate", {})))
    loop = loop_of(
        model,
        WEATHER,
        request_options=RequestOptions(
            first_parameters={"tool_choice": "required"}, requires_external=True
        ),
        external={"locate": spec("locate", "Where the person is")},
        static=({"type": "static_function", "static_function": {"name": "search"}},),
    )

    assert await loop.run([QUESTION], lambda event: None, Progress()) == "tool_calls"

    asked = [
        ([tool.name for tool in request.tools], len(request.static_tools), dict(request.parameters))
        for request in model.asked
    ]
    choice = {"tool_choice": "required"}
    assert asked == [(["weather", "locate"], 1, choice), *[(["locate"], 0, choice)] * 2]


@proves("4")
async def test_tools_of_the_client_are_passed_on_and_never_run():
    locate = spec("locate", "Where the person is")
    wanted = [("1", "locate", "{}"), ("2", "weather", '{"city": "Riga"}')]
    model = ScriptedModel(calling(*wanted))
    events: list[Event] = []
    progress = Progress()

    reason = await loop_of(model, WEATHER, external={"locate": locate}).run(
        [QUESTION], events.append, progress
    )

    assert reason == "tool_calls"
    assert [entry.name for entry in model.asked[0].tools] == ["weather", "locate"]
    assert events == [ToolCallsRequested((ToolCall(*wanted[0]),))]
    assert progress.conversation.added == [
        ModelMessage("assistant", " ", tool_calls=(ToolCall(*wanted[1]),)),
        ModelMessage("tool", "Riga: 12", tool_call_id="2"),
    ]


@proves("4")
async def test_calls_of_the_client_alone_leave_nothing_behind():
    model = ScriptedModel(calling(("1", "locate", "{}")))
    progress = Progress()

    reason = await loop_of(model, external={"locate": spec("locate")}).run(
        [QUESTION], lambda event: None, progress
    )

    assert (reason, progress.conversation.added) == ("tool_calls", [])


async def test_calls_that_were_left_without_a_result_are_made_first():
    answered, left = ToolCall("1", "weather", '{"city": "Oslo"}'), ToolCall("2", "weather", RIGA)
    asked = ModelMessage("assistant", " ", tool_calls=(answered, left))
    given = [QUESTION, asked, ModelMessage("tool", "Oslo: 3", tool_call_id="1")]
    model = ScriptedModel(saying("Oslo 3, Riga 12"))
    progress = Progress()

    reason = await loop_of(model, WEATHER).run(given, lambda event: None, progress)

    result = ModelMessage("tool", "Riga: 12", tool_call_id="2")
    assert reason == "stop"
    assert [list(request.messages) for request in model.asked] == [[*given, result]]
    assert progress.conversation.added == [result, ModelMessage("assistant", "Oslo 3, Riga 12")]
    assert (progress.counts.iterations, progress.counts.tool_calls) == (1, 1)


async def test_calls_of_the_client_that_were_left_are_handed_to_it_again():
    own, theirs = ToolCall("1", "weather", RIGA), ToolCall("2", "lights", "{}")
    given = [QUESTION, ModelMessage("assistant", " ", tool_calls=(own, theirs))]
    events: list[Event] = []
    progress = Progress()
    loop = loop_of(ScriptedModel(), WEATHER, external={"lights": spec("lights")})

    reason = await loop.run(given, events.append, progress)

    assert reason == "tool_calls"
    assert progress.conversation.added == [ModelMessage("tool", "Riga: 12", tool_call_id="1")]
    assert events == [ToolCallsRequested((theirs,))]


@proves("4")
async def test_an_attachment_is_shown_once_whoever_brings_it():
    chart = Attachment("image/png", "Chart", url="files/x/chart.png")
    note = Attachment("text/plain", "Note", data="hm")
    brings = ToolResult("done", propagated=(chart, note))
    custom = AttachmentAdded(chart)
    model = ScriptedModel(
        calling(("1", "draw", {}), ("2", "draw", {})),
        [custom, *calling(("3", "draw", {}))],
        [custom, finish()],
    )
    events: list[Event] = []

    await loop_of(model, tool("draw", lambda arguments: brings)).run(
        [QUESTION], events.append, Progress()
    )

    assert events == [AttachmentAdded(item) for item in (chart, note, note, note)]


async def test_views_change_what_the_model_sees_and_nothing_else():
    async def shout(messages):
        return [replace(message, content=message.text.upper()) for message in messages]

    model = ScriptedModel(calling(("1", "weather", {"city": "Riga"})), saying("Done"))
    progress = Progress()

    await loop_of(model, WEATHER, steps=LoopSteps(view=[shout])).run(
        [QUESTION], lambda event: None, progress
    )

    assert [message.text for message in model.asked[1].messages] == [
        "HOW WARM IS IT IN RIGA?",
        " ",
        "RIGA: 12",
    ]
    assert progress.conversation.added[1].text == "Riga: 12"


@proves("4")
async def test_steps_change_results_on_their_way_to_the_model_in_their_order():
    async def one(call, result):
        return replace(result, content=f"{call.name}: {result.content}")

    async def other(call, result):
        return replace(result, content=f"[{result.content}]")

    model = ScriptedModel(calling(("1", "weather", {"city": "Riga"})), saying("Done"))
    progress = Progress()

    await loop_of(model, WEATHER, steps=LoopSteps(results=[one, other])).run(
        [QUESTION], lambda event: None, progress
    )

    assert progress.conversation.added[1].text == "[weather: Riga: 12]"


@proves("4")
async def test_what_models_and_tools_spent_is_gathered():
    spends = ToolResult("done", usage=(ModelUsage("sub", 5, 6),))
    model = ScriptedModel(
        [*calling(("1", "spend", {})), finish("tool_calls", 1, 2)],
        saying("Done", prompt=3, completion=4),
    )
    progress = Progress()

    await loop_of(model, tool("spend", lambda arguments: spends)).run(
        [QUESTION], lambda event: None, progress
    )

    assert progress.usage == [
        ModelUsage("gpt", 1, 2),
        ModelUsage("sub", 5, 6),
        ModelUsage("gpt", 3, 4),
    ]


@proves("4")
async def test_what_was_gathered_outlives_a_model_that_fails():
    model = ScriptedModel(
        calling(("1", "weather", {"city": "Riga"})), [text("It"), ModelFailed("It broke off.")]
    )
    progress = Progress()

    with pytest.raises(ModelFailed):
        await loop_of(model, WEATHER).run([QUESTION], lambda event: None, progress)

    assert [message.role for message in progress.conversation.added] == ["assistant", "tool"]


async def test_a_cancelled_run_ends_its_tools_and_closes_their_stages_as_failed():
    started, ended = asyncio.Event(), asyncio.Event()
    events: list[Event] = []

    async def hangs(invocation: Invocation) -> ToolResult:
        try:
            with open_stage(invocation.emit, invocation.id, "Hanging"):
                started.set()
                await asyncio.Event().wait()
        finally:
            ended.set()
        return ToolResult("")

    loop = loop_of(ScriptedModel(calling(("1", "hang", {}))), async_tool("hang", hangs))
    run = asyncio.create_task(loop.run([QUESTION], events.append, Progress()))
    async with asyncio.timeout(60):
        await started.wait()
        run.cancel()
        await asyncio.wait([run])

    assert run.cancelled()
    assert ended.is_set()
    assert timeless(events) == [StageOpened("1", "Hanging"), StageClosed("1", 0.0, failed=True)]


@proves("T-08")
async def test_a_cancelled_run_closes_the_stream_of_the_model():
    model = ScriptedModel([text("It"), ScriptedModel.never])
    run = asyncio.create_task(loop_of(model).run([QUESTION], lambda event: None, Progress()))

    async with asyncio.timeout(60):
        await model.waiting.wait()
        run.cancel()
        await asyncio.wait([run])

    assert run.cancelled()
    assert model.closed.is_set()


@proves("D-20")
async def test_a_batch_that_takes_too_long_keeps_the_results_that_are_there():
    async def hangs(invocation: Invocation) -> ToolResult:
        with open_stage(invocation.emit, invocation.id, "Hanging"):
            await asyncio.Event().wait()
        return ToolResult("")

    def fails(arguments: object) -> str:
        raise ToolError("broken")

    tools = (WEATHER, async_tool("hang", hangs), tool("fail", fails))
    batch = calling(
        ("1", "weather", RIGA), ("2", "fail", {}), ("3", "hang", {}), ("4", "weather", RIGA)
    )
    model, ledger = ScriptedModel(batch, saying("Done")), MemoryLedger()
    progress, events = Progress(), list[Event]()

    await loop_of(model, *tools, limits=LoopLimits(batch_seconds=0.05), ledger=ledger).run(
        [QUESTION], events.append, progress
    )

    assert [message.text for message in progress.conversation.added if message.role == "tool"] == [
        "Riga: 12",
        "Error: broken",
        "Error: The tool call `hang` timed out after 0.05 seconds. "
        "Consider retrying with a smaller input or a simpler request.",
        "Riga: 12",
    ]
    assert timeless(events)[1] == StageClosed("3", 0.0, failed=True)
    assert {step.status for step in ledger.steps.values()} == {"done"}


@proves("D-04")
async def test_five_hundred_rounds_take_no_deeper_stack_and_no_more_than_their_messages():
    depths: list[int] = []

    def depth() -> int:
        frame, count = sys._getframe(), 0
        while frame.f_back is not None:
            frame, count = frame.f_back, count + 1
        return count

    def look(arguments: Mapping[str, Any]) -> str:
        depths.append(depth())
        return "12"

    class Endless(ScriptedModel):
        async def stream(self, request):
            answered = sum(message.role == "tool" for message in request.messages)
            yield calling((f"c{answered}", "look", {})) if answered < 500 else saying("Done")

    progress = Progress()
    loop = loop_of(Endless(), tool("look", look), limits=LoopLimits(iterations=-1))
    tracemalloc.start()
    try:
        reason = await loop.run([QUESTION], lambda event: None, progress)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (reason, progress.counts.iterations, progress.counts.tool_calls) == ("stop", 501, 500)
    assert len(set(depths)) == 1
    assert kept < 3_000_000  # two messages of each round, and the durations of its calls
    assert peak - kept < 1_000_000
