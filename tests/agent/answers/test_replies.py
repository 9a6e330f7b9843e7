import msgspec
import pytest

from apps.agent.answers.assembly import CALL_CHARACTERS, Assembly
from apps.agent.answers.replies import ask_model, read_answer
from apps.agent.answers.tool_calls import MOST_CALLS
from apps.agent.events import (
    AnnotationAdded,
    AttachmentAdded,
    Event,
    ModelUsage,
    Reasoning,
    RunFinished,
    Spent,
    StageAttachment,
    StageClosed,
    StageDelta,
    StageOpened,
    StageRenamed,
    StateSaved,
    TextDelta,
    TokenLogprob,
    ToolCallsRequested,
    Usage,
)
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.model import Delta, ModelRequest, Reply, StagePart
from apps.agent.progress import MOST_DATA, Allowance, RunAnswer
from apps.errors import ModelFailed
from tests.contract import proves
from tests.fakes import ScriptedModel, call_delta, calls, finish, saying, text, timeless
from tests.tables import each_row

REQUEST = ModelRequest((ModelMessage("user", "Hello"),))


async def reply_to(*chunks: object, emit=lambda event: None, **options) -> Reply:
    return await ask_model(ScriptedModel(chunks), REQUEST, emit, name="gpt", **options)


def stages(*parts: StagePart) -> list[Delta]:
    return list(parts)


@proves("5", "G-06")
async def test_text_is_shown_as_it_comes_and_kept_whole():
    events: list[Event] = []

    reply = await reply_to(text("Hel"), text("lo"), finish("stop", 7, 2), emit=events.append)

    assert events == [TextDelta("Hel"), TextDelta("lo")]
    assert reply == Reply(ModelMessage("assistant", "Hello"), "stop", (ModelUsage("gpt", 7, 2),))


@proves("5")
async def test_a_lead_separates_the_text_from_an_earlier_answer():
    events: list[Event] = []
    assembly = Assembly(events.append, answer=RunAnswer(["Before."]))

    await read_answer(ScriptedModel(saying("Then")), REQUEST, assembly)

    assert events == [TextDelta("\n\n"), TextDelta("Then")]
    assert assembly.reply("gpt").message == ModelMessage("assistant", "Then")


@proves("5", "G-06")
async def test_interleaved_pieces_of_several_calls_are_put_together():
    reply = await reply_to(
        calls(call_delta(0, "a", "weather", ""), call_delta(1, "b", "time", '{"zo')),
        calls(call_delta(1, "", "", 'ne": "UTC"}'), call_delta(0, "", "", '{"city": ')),
        calls(call_delta(0, "", "", '"Riga"}')),
        finish("tool_calls"),
    )

    assert reply.message.tool_calls == (
        ToolCall("a", "weather", '{"city": "Riga"}'),
        ToolCall("b", "time", '{"zone": "UTC"}'),
    )
    assert reply.finish_reason == "tool_calls"


@proves("5")
async def test_calls_that_a_service_numbers_all_zero_are_told_apart_by_their_ids():
    reply = await reply_to(
        calls(call_delta(0, "a", "weather", "{}")),
        calls(call_delta(0, "b", "time", '{"zone"')),
        calls(call_delta(0, "", "", ': "UTC"}')),
        finish("tool_calls"),
    )

    assert reply.message.tool_calls == (
        ToolCall("a", "weather", "{}"),
        ToolCall("b", "time", '{"zone": "UTC"}'),
    )


async def test_calls_without_an_id_get_one_that_is_never_given_twice():
    chunk = calls(call_delta(0, "", "weather", "{}"), call_delta(1, "", "weather", "{}"))

    first, second = await reply_to(chunk), await reply_to(chunk)

    ids = {call.id for reply in (first, second) for call in reply.message.tool_calls}
    assert len(ids) == 4
    assert "" not in ids


async def test_two_calls_of_the_same_id_get_different_ones():
    reply = await reply_to(
        calls(call_delta(0, "x", "weather", "{}"), call_delta(1, "x", "time", "{}"))
    )

    one, other = reply.message.tool_calls
    assert (one.id, one.name, other.name) == ("x", "weather", "time")
    assert other.id not in ("", "x")


async def test_an_id_that_the_conversation_has_already_is_not_given_again():
    earlier = ModelMessage("assistant", tool_calls=(ToolCall("call_0", "weather", "{}"),))
    request = ModelRequest((*REQUEST.messages, earlier))
    model = ScriptedModel([calls(call_delta(0, "call_0", "time", "{}"))])

    reply = await ask_model(model, request, lambda event: None, name="gpt")

    assert [call.id == "call_0" for call in reply.message.tool_calls] == [False]


async def test_a_call_without_a_function_is_a_call_without_a_name():
    reply = await reply_to(calls(call_delta(0, "a")))

    assert reply.message.tool_calls == (ToolCall("a", "", "{}"),)


@proves("4")
async def test_the_usage_of_each_model_wins_over_the_sum():
    usage = Usage(30, 3, (ModelUsage("a", 10, 1), ModelUsage("", 20, 2)))

    assert (await reply_to(usage)).usage == (ModelUsage("a", 10, 1), ModelUsage("gpt", 20, 2))


@proves("5")
async def test_the_stages_of_the_model_are_shown_and_closed_when_its_answer_begins():
    events: list[Event] = []
    picture = Attachment("image/png", url="files/x/y.png")

    await reply_to(
        stages(StagePart(0, name="Think")),
        stages(StagePart(0, content="hm"), StagePart(1, name="Search")),
        stages(StagePart(1, name="ing", attachments=(picture,), failed=True)),
        *saying("Done"),
        emit=events.append,
        stage_prefix="m-",
    )

    assert timeless(events) == [
        StageOpened("m-0", "Think"),
        StageDelta("m-0", "hm"),
        StageOpened("m-1", "Search"),
        StageRenamed("m-1", "ing"),
        StageAttachment("m-1", picture),
        StageClosed("m-1", 0.0, failed=True),
        StageClosed("m-0", 0.0),
        TextDelta("Done"),
    ]


@pytest.mark.parametrize("begins", [text("Done"), calls(call_delta(0, "1", "look")), finish()])
async def test_open_stages_of_the_model_are_completed_by_text_by_calls_and_by_the_end(begins):
    events: list[Event] = []

    await reply_to(
        stages(StagePart(0, name="Think")), begins, emit=events.append, stage_prefix="m-"
    )

    assert timeless(events)[:2] == [StageOpened("m-0", "Think"), StageClosed("m-0", 0.0)]


async def test_a_stage_of_the_model_that_begins_without_a_name_is_left_out_with_one_warning(caplog):
    events: list[Event] = []

    await reply_to(
        stages(StagePart(4, content="s3cret")),
        stages(StagePart(4, content="s3cret")),
        *saying("Done"),
        emit=events.append,
        stage_prefix="m-",
    )

    assert events == [TextDelta("Done")]
    assert caplog.messages == ["Skipped stage 4 of a model: it has no name"]


async def test_an_answer_that_cannot_be_read_is_a_model_that_fails():
    events: list[Event] = []
    broken = AttachmentAdded(1)  # type: ignore[arg-type]

    with pytest.raises(ModelFailed) as caught:
        await reply_to(
            stages(StagePart(0, name="Think")), broken, emit=events.append, stage_prefix="m-"
        )

    assert (caught.value.reason, type(caught.value.__cause__)) == ("stream", AttributeError)
    assert timeless(events)[1:] == [StageClosed("m-0", 0.0, failed=True)]


@proves("5")
async def test_the_stages_of_the_model_fail_when_its_stream_breaks():
    events: list[Event] = []

    with pytest.raises(ModelFailed):
        await reply_to(
            stages(StagePart(0, name="Think")),
            ModelFailed("It broke off."),
            emit=events.append,
            stage_prefix="m-",
        )

    assert timeless(events) == [StageOpened("m-0", "Think"), StageClosed("m-0", 0.0, failed=True)]


async def test_the_stages_of_a_sub_application_stand_below_a_stage_as_long_as_it_says():
    events: list[Event] = []

    await reply_to(
        stages(StagePart(0, name="Search")),
        stages(StagePart(1, name="Page", parent_index=0)),
        *saying("Found"),
        stages(StagePart(1, content="1", failed=False)),
        stages(StagePart(1, content="too late"), StagePart(2, content="no name")),
        stages(StagePart(3, name="Lost", parent_index=7)),
        emit=events.append,
        stage_prefix="c-",
        stage_parent="c",
    )

    assert timeless(events) == [
        StageOpened("c-0", "Search", "c"),
        StageOpened("c-1", "Page", "c-0"),
        TextDelta("Found"),
        StageDelta("c-1", "1"),
        StageClosed("c-1", 0.0),
        StageOpened("c-2", "Stage 3", "c"),
        StageDelta("c-2", "no name"),
        StageOpened("c-3", "Lost", "c"),
        StageClosed("c-3", 0.0),
        StageClosed("c-2", 0.0),
        StageClosed("c-0", 0.0),
    ]


async def test_what_an_application_emits_is_an_answer_as_it_is():
    picture = Attachment("image/png", url="files/a/b.png")
    said: list[Event] = [
        StageOpened("x", "Search"),
        StageOpened("y", "Page", "x"),
        StageRenamed("y", " 1"),
        StageDelta("y", "text"),
        StageAttachment("y", picture),
        StageClosed("y", 1.0, failed=True),
        StageDelta("y", "too late"),
        StageDelta("z", "never opened"),
        StageOpened("t", "Thinking", is_reasoning=True),
        Reasoning("t", "hm"),
        AttachmentAdded(picture),
        AnnotationAdded({"id": "1"}),
        ToolCallsRequested((ToolCall("1", "look", "{}"), ToolCall("2", "look", "{}"))),
        StateSaved({"a": 1}),
        RunFinished("length", Usage(1, 2, (ModelUsage("large", 1, 2),))),
    ]
    events: list[Event] = []

    reply = await reply_to(said, emit=events.append, stage_prefix="c-", stage_parent="c")

    assert timeless(events) == [
        StageOpened("c-x", "Search", "c"),
        StageOpened("c-y", "Page", "c-x"),
        StageRenamed("c-y", " 1"),
        StageDelta("c-y", "text"),
        StageAttachment("c-y", picture),
        StageClosed("c-y", 0.0, failed=True),
        StageOpened("c-t", "Thinking", "c"),
        StageDelta("c-t", "hm"),
        AttachmentAdded(picture),
        StageClosed("c-t", 0.0),
        StageClosed("c-x", 0.0),
    ]
    message = ModelMessage(
        "assistant",
        tool_calls=(ToolCall("1", "look", "{}"), ToolCall("2", "look", "{}")),
        attachments=(picture,),
        model_state={"a": 1},
    )
    usage = (ModelUsage("large", 1, 2),)
    assert reply == Reply(message, "length", usage, ({"id": "1"},))


async def test_steps_of_an_application_that_drives_give_way_to_its_answer():
    events: list[Event] = []

    await reply_to(
        [StageOpened("x", "Search"), TextDelta("Done"), StageDelta("x", "late")],
        [StageClosed("x", 1.0, failed=True), RunFinished()],
        emit=events.append,
        stage_prefix="m-",
    )

    assert timeless(events) == [
        StageOpened("m-x", "Search"),
        StageClosed("m-x", 0.0),
        TextDelta("Done"),
    ]


async def test_an_application_whose_models_told_no_usage_tells_none():
    assert (await reply_to(text("a"), RunFinished())).usage == ()
    assert (await reply_to(text("a"), Spent(Usage(1, 2, (ModelUsage("x", 1, 2),))))).usage == (
        ModelUsage("x", 1, 2),
    )


@proves("5")
async def test_the_stages_of_the_model_can_be_hidden():
    events: list[Event] = []

    await reply_to(stages(StagePart(0, name="Think")), *saying("Done"), emit=events.append)

    assert events == [TextDelta("Done")]


@proves("5")
async def test_state_and_attachments_of_the_model_are_kept_with_its_message():
    events: list[Event] = []
    chart = Attachment("image/png", "Chart", url="files/x/c.png")

    reply = await reply_to(
        [AttachmentAdded(chart), StateSaved({"a": 1})], StateSaved({"b": 2}), emit=events.append
    )

    assert events == [AttachmentAdded(chart)]
    assert reply.message == ModelMessage(
        "assistant", attachments=(chart,), model_state={"a": 1, "b": 2}
    )


async def test_an_answer_closes_the_stream_it_came_from():
    model = ScriptedModel(saying("Done"))

    await ask_model(model, REQUEST, lambda event: None, name="gpt")

    assert model.closed.is_set()


NOTICE = "[The answer was cut here: the limit is 10 characters.]"


@proves("T-03")
async def test_an_answer_that_is_too_long_is_cut_and_says_so():
    events: list[Event] = []
    model = ScriptedModel([text("Hello "), text("world"), ScriptedModel.never])

    reply = await ask_model(model, REQUEST, events.append, name="gpt", allowance=Allowance(10))

    told = f"Hello worl\n\n{NOTICE}"
    assert reply == Reply(ModelMessage("assistant", told), "length", ())
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == told
    assert model.closed.is_set()


async def test_an_answer_that_just_fits_is_whole():
    reply = await reply_to(*saying("0123456789"), allowance=Allowance(10))

    assert (reply.message.text, reply.finish_reason) == ("0123456789", "stop")


async def test_several_answers_of_one_run_share_the_room():
    allowance = Allowance(10)

    first = await reply_to(*saying("01234567"), allowance=allowance)
    second = await reply_to(*saying("89 and more"), allowance=allowance)

    assert first.message.text == "01234567"
    assert second.message.text == f"89\n\n{NOTICE}"


@proves("2.6")
@pytest.mark.parametrize(
    "piece",
    [
        calls(call_delta(0, "a", "write", '{"content": "and so on')),
        calls(*[call_delta(n, f"call-{n}", "w", "") for n in range(6)]),
        stages(StagePart(0, "Thinking", "and so on")),
        stages(*[StagePart(n, "", "") for n in range(11)]),
    ],
)
async def test_arguments_and_thinking_take_room_as_well_and_no_call_is_made(piece):
    events: list[Event] = []

    reply = await ask_model(
        ScriptedModel([piece, ScriptedModel.never]),
        REQUEST,
        events.append,
        name="gpt",
        stage_prefix="model-",
        allowance=Allowance(10),
    )

    assert reply == Reply(ModelMessage("assistant", NOTICE), "length", ())
    opened = [event.stage_id for event in events if isinstance(event, StageOpened)]
    assert opened == [event.stage_id for event in events if isinstance(event, StageClosed)][::-1]


@each_row("room", [CALL_CHARACTERS, CALL_CHARACTERS + 8])
async def test_a_call_takes_room_for_what_is_around_it(room):
    reply = await reply_to(
        calls(call_delta(0, "a", "now", "{}")), finish(), allowance=Allowance(room)
    )

    assert (len(reply.message.tool_calls), reply.finish_reason) == (
        (0, "length") if room == CALL_CHARACTERS else (1, "stop")
    )


async def test_ids_of_calls_have_an_end():
    piece = calls(call_delta(0, "a" * MOST_DATA, "now", "{}"))

    reply = await reply_to(piece, calls(call_delta(1, "b", "now", "{}")), finish())

    assert reply == Reply(
        ModelMessage("assistant", "[The answer was cut here: its files and state are too large.]"),
        "length",
        (),
    )


async def test_an_answer_of_endless_calls_is_cut_and_makes_none():
    model = ScriptedModel(
        [
            *[calls(call_delta(n, f"call-{n}", "now", "")) for n in range(MOST_CALLS + 1)],
            ScriptedModel.never,
        ]
    )

    reply = await ask_model(model, REQUEST, lambda event: None, name="gpt")

    notice = "[The answer was cut here: the limit is 1,000 tool calls.]"
    assert reply == Reply(ModelMessage("assistant", notice), "length", ())


LARGE = Attachment("image/png", data="x" * 5_000_000)


@pytest.mark.parametrize(
    "piece",
    [
        AttachmentAdded(LARGE),
        AnnotationAdded({"text": LARGE.data}),
        StateSaved({"kept": LARGE.data}),
        StagePart(0, "Draw", attachments=(LARGE,)),
        StageAttachment("never opened", LARGE),
    ],
)
async def test_files_and_state_have_room_of_their_own_which_ends_as_well(piece):
    most = MOST_DATA // 5_000_000

    fits = await reply_to(*[piece] * most, text("Look."), finish())
    cut = await reply_to(*[piece] * (most + 1), text("Look."), finish())

    assert (fits.message.text, fits.finish_reason) == ("Look.", "stop")
    assert (cut.message.text, cut.finish_reason) == (
        "[The answer was cut here: its files and state are too large.]",
        "length",
    )


@pytest.mark.parametrize("wanted", [True, False])
async def test_log_probabilities_stay_with_their_text_and_come_only_if_they_are_wanted(wanted):
    told = (TokenLogprob("It", -0.5),)
    late = (TokenLogprob(".", -1.0),)
    events: list[Event] = []
    assembly = Assembly(events.append, answer=RunAnswer(["Before."]), shows_logprobs=wanted)
    for delta in (TextDelta("It", told), TextDelta("."), TextDelta("", late)):
        assembly.feed(delta)

    assert assembly.reply("gpt").message.text == "It."
    if wanted:
        last = [TextDelta("", late)]
        assert events == [TextDelta("\n\n"), TextDelta("It", told), TextDelta("."), *last]
        taken = [len(msgspec.json.encode(tokens)) for tokens in (told, late)]
        assert assembly.allowance.data == MOST_DATA - sum(taken)
    else:
        assert events == [TextDelta("\n\n"), TextDelta("It"), TextDelta(".")]
