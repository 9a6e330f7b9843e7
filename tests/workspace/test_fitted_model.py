from __future__ import annotations

from dataclasses import replace

import pytest

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import ModelRequest
from apps.workspace.fitted_model import fit_model
from apps.workspace.model_capabilities import UNKNOWN, ModelCapabilities
from apps.workspace.text_tools.model import TextToolModel
from tests.contract import proves
from tests.fakes import ScriptedModel, saying, spec

TEXT = {"type": "text", "text": "What is it?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
PDF = {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}
BLIND = ModelCapabilities(vision=False)


async def asked(can: ModelCapabilities, *messages: ModelMessage, **fields) -> ModelRequest:
    model = ScriptedModel(saying("Hm"))
    async for _ in fit_model(model, "gpt", can).stream(ModelRequest(messages, **fields)):
        pass
    return model.asked[0]


@proves("T-51")
@pytest.mark.parametrize(
    "can",
    [
        UNKNOWN,
        ModelCapabilities(tools=True, vision=True, parallel_tools=True),
        ModelCapabilities(audio_output=False, structured_output=False, caching=False),
    ],
)
def test_a_model_that_nothing_has_to_be_kept_from_is_asked_itself(can):
    model = ScriptedModel()

    assert fit_model(model, "gpt", can) is model


def test_a_model_without_tools_is_asked_in_text():
    model = ScriptedModel()

    can = ModelCapabilities(tools=False)
    assert fit_model(model, "gpt", can) == TextToolModel(model, "gpt", has_tools=True)
    assert fit_model(model, "gpt", can, text_tools=False) == TextToolModel(model, "gpt", False)


async def test_parts_that_it_cannot_read_are_told_in_their_place():
    can = ModelCapabilities(vision=False, documents=False, audio_input=False)
    message = ModelMessage("user", (TEXT, PICTURE, PDF, SOUND, {"type": "other"}))

    request = await asked(can, message)

    assert request.messages[0].content == (
        TEXT,
        {"type": "text", "text": "[A picture is left out: you cannot read it.]"},
        {"type": "text", "text": "[A document is left out: you cannot read it.]"},
        {"type": "text", "text": "[A sound is left out: you cannot read it.]"},
        {"type": "other"},
    )


async def test_what_is_not_known_is_sent():
    message = ModelMessage("user", (TEXT, PICTURE, PDF))

    assert (await asked(ModelCapabilities(audio_input=False), message)).messages == [message]


@proves("T-51")
async def test_the_picture_of_a_tool_is_left_out_with_a_line_of_text():
    picture = Attachment("image/png", "a\nb.png", url="files/a.png")
    table = Attachment("text/csv", "t.csv", url="files/t.csv")
    result = ModelMessage("tool", "Done", tool_call_id="1", attachments=(picture, table))

    request = await asked(BLIND, result)

    assert request.messages == [
        replace(
            result,
            content="Done\n[a b.png (image/png) is left out: you cannot read it.]",
            attachments=(table,),
        )
    ]


async def test_one_call_at_a_time_is_asked_for_where_there_are_tools():
    can = ModelCapabilities(parallel_tools=False)
    question = ModelMessage("user", "Hi")

    with_tools = await asked(can, question, tools=(spec("time"),), parameters={"seed": 1})
    without = await asked(can, question, parameters={"seed": 1})

    assert with_tools.parameters == {"seed": 1, "parallel_tool_calls": False}
    assert without.parameters == {"seed": 1}
