import json
from types import MappingProxyType

import pytest

from apps.agent.messages import (
    Attachment,
    ModelMessage,
    ToolCall,
    from_dict,
    messages_json,
    to_dict,
    to_dicts,
)
from tests.contract import proves

CONVERSATION = [
    ModelMessage("system", "Be brief."),
    ModelMessage(
        "user",
        ({"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {}}),
        attachments=(Attachment("image/png", "A picture", url="files/x/a.png"),),
    ),
    ModelMessage("assistant", "", tool_calls=(ToolCall("1", "look", '{"at": 1}'),)),
    ModelMessage("tool", "A cat", tool_call_id="1", state={"session": 1}),
    ModelMessage("user", "Whose?", name="Ada"),
    ModelMessage(
        "assistant",
        "A cat.",
        attachments=(Attachment("text/plain", data="cat"),),
        state={"a": [1]},
        extra={"form_value": {"ok": True}},
    ),
]


def test_what_was_written_is_read_again_as_it_was():
    assert [from_dict(written) for written in to_dicts(CONVERSATION)] == CONVERSATION


def test_keys_without_a_value_are_left_out():
    assert to_dict(ModelMessage("user", "Hello")) == {"role": "user", "content": "Hello"}


def test_stages_of_an_answer_are_not_part_of_what_was_said():
    written = {"role": "assistant", "content": None, "custom_content": {"stages": [{"index": 0}]}}

    assert from_dict(written) == ModelMessage("assistant")


@proves("5")
@pytest.mark.parametrize(
    ("written", "attachment"),
    [
        ({"url": "u"}, Attachment(url="u")),
        ({"data": "d", "type": "a/b"}, Attachment("a/b", data="d")),
        ({"reference_url": "r"}, Attachment(url="r", reference_url="r")),
        ({}, Attachment(data="")),
    ],
)
def test_an_attachment_has_either_data_or_an_address(written, attachment):
    message = {"role": "user", "content": "", "custom_content": {"attachments": [written]}}

    assert from_dict(message).attachments == (attachment,)


def test_the_text_of_a_message_is_that_of_its_text_parts():
    parts = ({"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"})

    assert ModelMessage("user", parts).text == "a\nb"


def test_messages_can_be_read_by_a_person_whatever_is_in_them():
    half = ModelMessage("tool", "\ud83d", state=MappingProxyType({"a": {1}}), tool_call_id="1")

    found = messages_json([half])

    assert json.loads(found)[0]["content"] == "\ud83d"
    assert "{1}" in found
