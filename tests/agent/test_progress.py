"""The progress of a run: images in the text of its answer, its durations and its usage."""

import pytest

from apps.agent.events import (
    AttachmentAdded,
    Event,
    ModelUsage,
    StageClosed,
    StageDelta,
    StageOpened,
    TextDelta,
    Usage,
)
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopTools
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.progress import CallTiming, Progress, as_markdown, show_timings, total
from apps.agent.tools import ToolResult
from tests.fakes import ScriptedModel, calling, saying, text, tool

BOAT = Attachment("image/png", "A red boat", url="files/me/boat-1.png")


@pytest.mark.parametrize(
    ("picture", "written"),
    [
        (BOAT, "![A red boat](files/me/boat-1.png)"),
        (
            Attachment("image/png", "](x) <b>\n`a`", url="files/a b/(1)>.png"),
            r"![\](x) \<b\> \`a\`](files/a%20b/%281%29%3E.png)",
        ),
        (Attachment("image/png", "", url="files/me/a%20b.png"), "![](files/me/a%20b.png)"),
    ],
)
def test_title_and_address_cannot_end_the_picture(picture, written):
    assert as_markdown(picture) == written


async def test_a_picture_stands_once_between_the_texts_around_its_call():
    result = ToolResult("Made.", attachments=(BOAT,), pictures=(BOAT,))
    model = ScriptedModel(
        [text("I draw."), *calling(("1", "draw", {}), ("2", "draw", {}))], saying("There.")
    )
    events: list[Event] = []
    progress = Progress()

    loop = AgentLoop(model, "gpt", LoopTools({"draw": tool("draw", lambda arguments: result)}))
    await loop.run([ModelMessage("user", "Draw.")], events.append, progress)

    expected = "I draw.\n\n![A red boat](files/me/boat-1.png)\n\nThere."
    assert progress.answer.text == expected
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == expected
    assert not [one for one in events if isinstance(one, AttachmentAdded)]
    assert [m.attachments for m in model.asked[1].messages if m.role == "tool"] == [(BOAT,)] * 2


def test_each_call_has_a_row_and_the_last_row_is_the_whole_run():
    events: list[Event] = []

    show_timings(
        [CallTiming("gpt", 1.5), CallTiming("weather", 0.25, is_tool=True)], 1.7504, events.append
    )

    assert events == [
        StageOpened("execution-time", "Execution time"),
        StageDelta(
            "execution-time",
            "| Step | Seconds |\n"
            "| --- | ---: |\n"
            "| Model gpt | 1.500 |\n"
            "| Tool `weather` | 0.250 |\n"
            "| **Total** | **1.750** |\n",
        ),
        StageClosed("execution-time", 0.0),
    ]


def test_tokens_are_added_up_for_each_model_in_the_order_of_their_first_answers():
    spent = [ModelUsage("b", 1, 2), ModelUsage("a", 10, 20), ModelUsage("b", 100, 200)]

    assert total(spent) == Usage(111, 222, (ModelUsage("b", 101, 202), ModelUsage("a", 10, 20)))


def test_nothing_spent_is_nothing():
    assert total([]) == Usage(0, 0, ())


def test_cached_tokens_and_those_for_thinking_are_added_up_where_they_were_told():
    spent = [ModelUsage("a", 1, 2, 1, 5), ModelUsage("b", 1, 2), ModelUsage("a", 1, 2, 0, None, 2)]

    assert total(spent) == Usage(
        3,
        6,
        (ModelUsage("a", 2, 4, 1, 5, 2), ModelUsage("b", 1, 2)),
        cached=1,
        created=5,
        reasoning=2,
    )
