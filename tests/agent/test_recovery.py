"""§4: after a failure, the model may be called once more with a rewritten conversation."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from apps.agent.events import (
    Event,
    ModelUsage,
    StageClosed,
    StageDelta,
    StageOpened,
    TextDelta,
    Usage,
)
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopSteps, LoopTools
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import StagePart
from apps.agent.progress import Progress
from apps.agent.recovery import Recovery
from apps.agent.stages import open_stage
from apps.agent.tools import Invocation, ToolResult
from apps.errors import ModelFailed
from tests.contract import proves
from tests.fakes import ScriptedModel, async_tool, calling, saying, text, timeless

QUESTION = ModelMessage("user", "What is in the picture?")
PICTURE = Attachment("image/bmp", "Picture", url="files/x/picture.bmp")
REFUSED = ModelFailed("no such media type", status=400)
LOOK = calling(("1", "look", {}))
CUT = ModelFailed("cut", reason="stream")


async def look(invocation: Invocation) -> ToolResult:
    return ToolResult("Here it is.", attachments=(PICTURE,))


async def take_back(
    failure: ModelFailed, messages: Sequence[ModelMessage]
) -> Sequence[ModelMessage] | None:
    """Remove what the model refused, as a capability would."""
    if not any(message.attachments for message in messages):
        return None
    return [
        replace(message, content="It cannot be shown.", attachments=())
        if message.attachments
        else message
        for message in messages
    ]


async def never(failure: ModelFailed, messages: Sequence[ModelMessage]) -> None:
    return None


async def breaks(failure: ModelFailed, messages: Sequence[ModelMessage]) -> None:
    raise RuntimeError("a mistake of a capability")


def loop_of(model: ScriptedModel, *recoveries: Recovery, call=look) -> AgentLoop:
    return AgentLoop(
        model,
        "gpt",
        LoopTools({"look": async_tool("look", call)}),
        steps=LoopSteps(recoveries=recoveries),
    )


def texts(messages: Sequence[ModelMessage]) -> list[str]:
    return [message.text for message in messages]


@proves("4")
async def test_the_model_is_asked_again_with_what_was_rewritten_and_that_is_kept():
    model = ScriptedModel(LOOK, [REFUSED], saying("I cannot see it."))
    progress = Progress()

    reason = await loop_of(model, never, breaks, take_back).run(
        [QUESTION], lambda event: None, progress
    )

    asked = [QUESTION.text, " ", "It cannot be shown."]
    assert reason == "stop"
    assert texts(model.asked[1].messages) == [QUESTION.text, " ", "Here it is."]
    assert texts(model.asked[2].messages) == asked
    assert texts(progress.conversation.messages) == [*asked, "I cannot see it."]
    assert progress.counts.iterations == 2


@proves("4")
@pytest.mark.parametrize("recoveries", [(), (never,), (breaks,)])
async def test_without_a_recovery_the_error_stands(recoveries):
    model = ScriptedModel(LOOK, [REFUSED], saying("Never asked"))
    progress = Progress()

    with pytest.raises(ModelFailed) as caught:
        await loop_of(model, *recoveries).run([QUESTION], lambda event: None, progress)

    assert caught.value is REFUSED
    assert len(model.asked) == 2
    assert texts(progress.conversation.added) == [" ", "Here it is."]


@proves("4")
async def test_a_recovery_that_does_not_help_leaves_the_first_error():
    second = ModelFailed("still not", status=500)
    model = ScriptedModel(LOOK, [REFUSED], [second], saying("Never asked"))

    with pytest.raises(ModelFailed) as caught:
        await loop_of(model, take_back).run([QUESTION], lambda event: None, Progress())

    assert caught.value is REFUSED
    assert caught.value.__cause__ is second
    assert len(model.asked) == 3


@proves("4")
async def test_there_is_one_recovery_in_a_run_wherever_the_model_failed():
    later = ModelFailed("refused again", status=400)
    model = ScriptedModel(LOOK, [REFUSED], LOOK, [text("I s"), later], saying("Never asked"))
    progress = Progress()

    with pytest.raises(ModelFailed) as caught:
        await loop_of(model, take_back).run([QUESTION], lambda event: None, progress)

    assert caught.value is later
    assert texts(progress.conversation.messages) == [
        QUESTION.text, " ", "It cannot be shown.", " ", "Here it is.",
    ]  # fmt: skip


@proves("4")
async def test_a_stream_that_breaks_off_is_recovered_as_well_and_its_text_stays_apart():
    thinking = StagePart(0, "Thinking")
    half = [text("I s"), thinking, Usage(5, 1), CUT]
    model = ScriptedModel(LOOK, half, [thinking, *saying("No.", prompt=4, completion=2)])
    events: list[Event] = []
    progress = Progress()

    await loop_of(model, take_back).run([QUESTION], events.append, progress)

    assert timeless(events) == [
        TextDelta("I s"),
        StageOpened("model-2-0", "Thinking"),
        StageClosed("model-2-0", 0.0, failed=True),
        StageOpened("model-2-again-0", "Thinking"),
        StageClosed("model-2-again-0", 0.0),
        TextDelta("\n\n"),
        TextDelta("No."),
    ]
    assert progress.usage == [ModelUsage("gpt", 5, 1), ModelUsage("gpt", 4, 2)]


@proves("4")
async def test_a_stage_that_waits_for_the_answer_tells_what_its_result_became():
    async def look_deferred(invocation: Invocation) -> ToolResult:
        block = open_stage(invocation.emit, invocation.id, "Looking")
        stage = block.__enter__()
        assert invocation.defer is not None
        invocation.defer(stage, block)
        return await look(invocation)

    model = ScriptedModel(LOOK, [REFUSED], saying("No."))
    events: list[Event] = []

    await loop_of(model, take_back, call=look_deferred).run([QUESTION], events.append, Progress())

    assert timeless(events) == [
        StageOpened("1", "Looking"),
        StageDelta("1", "\n\nIt cannot be shown.\n"),
        TextDelta("No."),
        StageClosed("1", 0.0),
    ]
