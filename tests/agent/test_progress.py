"""Images in the text of the answer."""

import pytest

from apps.agent.events import AttachmentAdded, Event, TextDelta
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopTools
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.progress import Progress, as_markdown
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
