"""§11: the model gets a list of all attachments, and the user's images."""

import base64
from typing import Any

import pytest

from apps.agent.messages import Attachment, ModelMessage, ToolCall, to_dicts
from apps.agent.stages import silent
from apps.capabilities.attachments.capability import MOST_CHARACTERS, attachments
from apps.capabilities.registry import ContinuedConversation, Opening
from apps.workspace.port import DeploymentInfo
from tests.capabilities.attachments.conversations import (
    CALLER,
    PAPER,
    PICTURE,
    PNG,
    answered,
    application,
    keep_files,
    seen,
    told,
)
from tests.capabilities.manifests import manifest
from tests.contract import proves
from tests.fakes import FakeWorkspace, ScriptedModel, saying

pytestmark = pytest.mark.django_db

DATA = base64.b64encode(PNG).decode()


async def shown(*messages: ModelMessage, **info: Any) -> list[ModelMessage]:
    """Return the conversation for a deployment of that kind."""
    model = ScriptedModel(saying("Yes."))
    await answered(application(), model, *messages, **info)
    return list(seen(model))


@proves("11")
async def test_the_block_is_what_the_model_reads():
    item = Attachment(
        'text/x"y', "<b> & </attachments>", url="files/a?b=1&c=2", reference_url="https://x.example"
    )

    (message,) = await shown(ModelMessage("user", "Look", attachments=(item,)))

    assert message == ModelMessage(
        "user",
        "Look\n"
        "<attachments>\n"
        "  <attachment>\n"
        "    <title>&lt;b&gt; &amp; &lt;/attachments&gt;</title>\n"
        '    <type>text/x"y</type>\n'
        "    <url>files/a?b=1&amp;c=2</url>\n"
        "    <reference_url>https://x.example</reference_url>\n"
        "  </attachment>\n"
        "</attachments>",
    )


@proves("11", "G-11")
async def test_users_and_tools_attachments_are_told_and_those_of_the_model_are_not():
    call = ToolCall("1", "draw", "{}")
    conversation = (
        ModelMessage("user", "", attachments=(PAPER, PICTURE)),
        ModelMessage("assistant", "Well.", tool_calls=(call,), attachments=(PICTURE,)),
        ModelMessage("tool", "Done", tool_call_id="1", attachments=(PICTURE, PAPER)),
        ModelMessage("user", "And?"),
    )

    assert await shown(*conversation) == [
        ModelMessage("user", told(PAPER, PICTURE), attachments=(PICTURE,)),
        ModelMessage("assistant", "Well.", tool_calls=(call,)),
        ModelMessage("tool", f"Done{told(PICTURE, PAPER)}", tool_call_id="1"),
        ModelMessage("user", "And?"),
    ]


@proves("11")
async def test_content_that_came_in_parts_gets_the_block_as_a_part():
    part = {"type": "text", "text": "Look"}

    (message,) = await shown(ModelMessage("user", (part,), attachments=(PAPER,)))

    assert message.content == (part, {"type": "text", "text": told(PAPER)})


@proves("11")
async def test_nothing_that_is_kept_is_changed_by_what_the_model_sees():
    question = ModelMessage("user", "Look", attachments=(PAPER, PICTURE))
    model = ScriptedModel(saying("Yes."))

    await answered(application(), model, question)

    assert to_dicts([question])[0]["content"] == "Look"
    assert question.attachments == (PAPER, PICTURE)


@proves("11")
async def test_a_conversation_without_attachments_is_the_very_same():
    opener = attachments.prepare(manifest())
    assert opener is not None
    messages = [ModelMessage("user", "Hello")]
    # nothing of the workspace is needed for it
    opening = Opening(FakeWorkspace(CALLER), CALLER, silent, ContinuedConversation(messages))

    async with opener(opening) as contribution:
        (view,) = contribution.view
        assert await view(messages) is messages
        assert contribution.history == ()


@proves("11")
@pytest.mark.parametrize(
    ("types", "is_kept"),
    [((), True), (("*/*",), True), (("image/*",), True), (("image/jpeg", "text/*"), False)],
)
async def test_a_deployment_that_says_what_it_takes_is_given_no_other_pictures(types, is_kept):
    (message,) = await shown(
        ModelMessage("user", "Look", attachments=(PICTURE,)), input_attachment_types=types
    )

    assert message.attachments == ((PICTURE,) if is_kept else ())


@proves("11")
async def test_a_service_that_knows_no_attachments_gets_pictures_as_parts():
    await keep_files()
    given = Attachment("image/jpeg", "Inside", data="anBlZw==")

    (message,) = await shown(
        ModelMessage("user", "Look", attachments=(PICTURE, PAPER, given)), files="none"
    )

    assert message == ModelMessage(
        "user",
        (
            {"type": "text", "text": f"Look{told(PICTURE, PAPER, given)}"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,anBlZw=="}},
        ),
    )


async def test_a_service_of_dial_that_cannot_fetch_files_gets_what_is_in_them():
    await keep_files()

    (message,) = await shown(ModelMessage("user", "Look", attachments=(PICTURE,)), files="data")

    assert message == ModelMessage(
        "user", f"Look{told(PICTURE)}", attachments=(Attachment("image/png", "A cat", data=DATA),)
    )


@proves("11")
@pytest.mark.parametrize("files", ["none", "data"])
async def test_a_picture_that_cannot_be_loaded_is_told_and_the_turn_goes_on(files):
    (message,) = await shown(ModelMessage("user", "Look", attachments=(PICTURE,)), files=files)

    assert message == ModelMessage(
        "user",
        f"Look{told(PICTURE)}\n[The attachment 'A cat' cannot be shown: "
        "The file 'files/user-7/cat.png' does not exist, or you have no access.]",
    )


async def test_a_picture_that_is_too_large_is_told():
    await keep_files()
    model = ScriptedModel(saying("Yes."))
    app = application(features={"file_loading": {"size_limit": 5}})

    await answered(app, model, ModelMessage("user", "Look", attachments=(PICTURE,)), files="none")

    (message,) = seen(model)
    assert message == ModelMessage(
        "user",
        f"Look{told(PICTURE)}\n[The attachment 'A cat' cannot be shown: "
        "The file is 12 bytes; the limit is 5.]",
    )


@proves("11")
async def test_the_newest_pictures_are_shown_where_there_is_no_room_for_all():
    large = Attachment("image/png", "Large", data="A" * (MOST_CHARACTERS // 2 + 4))
    question = ModelMessage("user", "Look", attachments=(large,))
    oldest = ModelMessage("user", "Look", attachments=(PICTURE,))
    problem = "this conversation has too many or too large files."

    first, second, third = await shown(oldest, question, question, files="none")

    # a file that would not fit is not looked up
    assert first.text == f"Look{told(PICTURE)}\n[The attachment 'A cat' cannot be shown: {problem}]"
    assert second.text == f"Look{told(large)}\n[The attachment 'Large' cannot be shown: {problem}]"
    assert [part["type"] for part in third.content if isinstance(part, dict)] == [
        "text",
        "image_url",
    ]


async def test_files_are_read_once_however_often_the_model_is_asked():
    await keep_files()
    opener = attachments.prepare(manifest())
    assert opener is not None
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"some-model": ScriptedModel()}
    workspace.infos = {"some-model": DeploymentInfo("some-model", "Some", files="none")}
    messages = [ModelMessage("user", "Look", attachments=(PICTURE,))]

    async with opener(
        Opening(workspace, CALLER, silent, ContinuedConversation(messages))
    ) as contribution:
        (view,) = contribution.view
        first = await view(messages)
        await workspace.files.delete(PICTURE.url or "")
        assert await view(messages) == first
