"""§11: contents on demand (`lazy_on_demand`)."""

import json
from typing import Any

import pytest

from apps.agent.events import AttachmentAdded, RunFinished, StageOpened
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.capabilities.attachments.capability import FILES_INTRODUCTION
from apps.capabilities.attachments.contents import REFUSED
from apps.capabilities.attachments.policies import TOOL_NAME
from apps.errors import ModelFailed
from tests.capabilities.attachments.conversations import (
    PAPER,
    PICTURE,
    answered,
    application,
    keep_files,
    seen,
    state,
    told,
)
from tests.capabilities.manifests import stage_text
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, saying, spec

pytestmark = pytest.mark.django_db

LAZY = {"type": "lazy_on_demand"}
TYPES = ("application/pdf", "image/*")
NOTE = Attachment("text/plain", "Note", url="files/user-7/note.txt")
RULES = {"type": "file", "url": "files/user-7/terms.pdf", "description": "What holds"}
REFUSAL = ModelFailed("no such media type", status=400)


def asking(url: str, name: str = "attachment_url", call_id: str = "c1") -> list[Any]:
    return calling((call_id, TOOL_NAME, {name: url}))


def names(model: ScriptedModel, request: int = 0) -> list[str]:
    return [tool.name for tool in model.asked[request].tools]


def text_of(attachment: Attachment) -> str:
    return f"The content of {attachment.title!r} ({attachment.type}) is attached."


@proves("11")
async def test_what_came_with_the_newest_question_is_there_as_if_it_was_asked_for():
    model = ScriptedModel(saying("I see."))
    earlier = ModelMessage("user", "Hello", attachments=(PICTURE,))
    question = ModelMessage("user", "Look", attachments=(PAPER, NOTE, PICTURE))

    events = await answered(
        application(LAZY),
        model,
        earlier,
        ModelMessage("assistant", "Hi"),
        question,
        input_attachment_types=TYPES,
    )

    first, _, asked, *pairs = seen(model)
    assert first == ModelMessage("user", f"Hello{told(PICTURE)}")
    assert asked == ModelMessage("user", f"Look{told(PAPER, NOTE, PICTURE)}")
    ids = [message.tool_calls[0].id for message in pairs[::2]]
    assert len(set(ids)) == 2
    assert all(id.startswith("synth_internal_attach") for id in ids)
    assert pairs == [
        message
        for id, attachment in zip(ids, (PAPER, PICTURE), strict=True)
        for message in (
            ModelMessage(
                "assistant",
                tool_calls=(
                    ToolCall(
                        id,
                        TOOL_NAME,
                        json.dumps({"attachment_url": attachment.url}).replace(": ", ":"),
                    ),
                ),
            ),
            ModelMessage(
                "tool",
                f"{text_of(attachment)}{told(attachment)}",
                tool_call_id=id,
                attachments=(attachment,),
            ),
        )
    ]
    assert state(events) == {"tool_execution_history": []}


@proves("11")
@pytest.mark.parametrize("url", ["files/user-7/terms.pdf", " /files/user-7/terms.pdf "])
@pytest.mark.parametrize("name", ["attachment_url", "context_url"])
async def test_the_model_asks_for_a_content_and_nothing_of_it_is_left_behind(url, name):
    await keep_files()
    model = ScriptedModel(asking(url, name), saying("I see."))

    events = await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(PAPER,)),
        ModelMessage("assistant", "Yes"),
        ModelMessage("user", "Again"),
        input_attachment_types=TYPES,
    )

    assert seen(model)[-1] == ModelMessage(
        "tool", f"{text_of(PAPER)}{told(PAPER)}", tool_call_id="c1", attachments=(PAPER,)
    )
    assert text_of(PAPER) in stage_text(events)
    assert not any(isinstance(event, AttachmentAdded) for event in events)
    assert [event.title for event in events if isinstance(event, StageOpened)] == ["Reading a file"]
    assert state(events) == {"tool_execution_history": []}


@proves("11")
async def test_files_of_the_operator_can_be_asked_for():
    await keep_files()
    model = ScriptedModel(asking("files/user-7/terms.pdf"), saying("I see."))

    events = await answered(
        application(LAZY, contexts=[RULES]),
        model,
        ModelMessage("user", "?"),
        input_attachment_types=TYPES,
    )

    terms = Attachment("application/pdf", "terms.pdf", url="files/user-7/terms.pdf")
    assert seen(model)[-1].attachments == (terms,)
    # the announcement of the file stays
    assert len(state(events)["tool_execution_history"]) == 2


@proves("11")
@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (
            "files/user-7/other.pdf",
            "'files/user-7/other.pdf' is neither an attachment of the user nor a file of this "
            "application. Use a URL exactly as it is listed.",
        ),
        (
            "//files/user-7/terms.pdf",
            "'//files/user-7/terms.pdf' is neither an attachment of the user nor a file of this "
            "application. Use a URL exactly as it is listed.",
        ),
        (
            "files/user-7/note.txt",
            (
                "'Note' has the type text/plain, which you cannot read. Supported types: "
                "application/pdf, image/*."
            ),
        ),
        (
            "files/user-7/gone.pdf",
            "The file 'files/user-7/gone.pdf' does not exist, or you have no access.",
        ),
    ],
)
async def test_other_urls_are_refused(url, problem):
    await keep_files()
    gone = Attachment("application/pdf", "Gone", url="files/user-7/gone.pdf")
    drawn = Attachment("application/pdf", "Other", url="files/user-7/other.pdf")
    model = ScriptedModel(asking(url), saying("Sorry."))

    await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(PAPER, NOTE, gone)),
        ModelMessage("assistant", "Yes", attachments=(drawn,)),  # not the user's
        ModelMessage("user", "Again"),
        input_attachment_types=TYPES,
    )

    assert seen(model)[-1].text == (
        f"Error: Parameter attachment_url is invalid: {problem}\n\n"
        "Correct it and call the tool again."
    )


@proves("11")
@pytest.mark.parametrize(
    ("accepted", "types", "attachment", "is_there"),
    [
        (None, TYPES, PAPER, True),
        (None, TYPES, NOTE, False),
        (["application/pdf"], TYPES, PICTURE, False),
        (["text/*"], TYPES, NOTE, False),
        (["text/*"], ("*/*",), NOTE, True),
    ],
)
async def test_the_tool_is_there_where_something_can_be_asked_for(
    accepted, types, attachment, is_there
):
    model = ScriptedModel(saying("Yes."))

    await answered(
        application({**LAZY, "accepted_types": accepted}),
        model,
        ModelMessage("user", "Look", attachments=(attachment,)),
        input_attachment_types=types,
    )

    assert names(model) == ([TOOL_NAME] if is_there else [])
    assert len(seen(model)) == (3 if is_there else 1)


@proves("11")
async def test_a_picture_that_cannot_be_asked_for_is_shown_at_once():
    inside = Attachment("image/png", "Inside", data="iVBOR")
    model = ScriptedModel(saying("Yes."))

    await answered(
        application({**LAZY, "accepted_types": ["application/pdf"]}),
        model,
        ModelMessage("user", "Look", attachments=(PICTURE, inside)),
        input_attachment_types=TYPES,
    )

    assert seen(model)[0].attachments == (PICTURE, inside)


@proves("11")
async def test_a_deployment_that_does_not_say_what_it_takes_offers_nothing():
    model = ScriptedModel(saying("Yes."))

    events = await answered(
        application(LAZY), model, ModelMessage("user", "Look", attachments=(PAPER,))
    )

    assert (names(model), len(seen(model))) == ([], 1)
    assert stage_text(events) == (
        "#### Attachments\n\n- orchestrator.attachment_strategy: the deployment 'gpt' declares "
        "no input_attachment_types, so attachments cannot be shown to it on demand.\n"
    )


async def test_a_service_that_takes_text_from_tools_alone_gets_contents_behind_their_results():
    await keep_files()
    model = ScriptedModel(
        calling(
            ("c1", TOOL_NAME, {"attachment_url": PAPER.url}),
            ("c2", TOOL_NAME, {"attachment_url": NOTE.url}),
        ),
        saying("I see."),
    )

    await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(PAPER, NOTE)),
        ModelMessage("assistant", "Yes"),
        ModelMessage("user", "Again"),
        input_attachment_types=("*/*",),
        files="none",
    )

    assert seen(model)[-3:] == [
        ModelMessage("tool", f"{text_of(PAPER)}{told(PAPER)}", tool_call_id="c1"),
        ModelMessage("tool", f"{text_of(NOTE)}{told(NOTE)}", tool_call_id="c2"),
        ModelMessage(
            "user",
            (
                {"type": "text", "text": FILES_INTRODUCTION},
                {
                    "type": "file",
                    "file": {
                        "filename": "Terms & more",
                        "file_data": "data:application/pdf;base64,JVBERi0x",
                    },
                },
                {"type": "text", "text": "Note:\nGröße"},
            ),
        ),
    ]


@proves("11")
async def test_a_content_that_the_model_refuses_is_taken_back_and_it_is_asked_once_more():
    model = ScriptedModel([REFUSAL], saying("I cannot read it."))

    events = await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(PAPER,)),
        input_attachment_types=TYPES,
    )

    assert [m.text for m in seen(model, 0)[1:]] == ["", f"{text_of(PAPER)}{told(PAPER)}"]
    assert [m.text for m in seen(model, 1)[1:]] == ["", REFUSED]
    assert not any(message.attachments for message in seen(model, 1))
    assert events[-1] == RunFinished("stop")


async def test_contents_that_the_model_has_read_are_left_to_it():
    await keep_files()
    model = ScriptedModel(asking(PICTURE.url or ""), [REFUSAL], saying("I cannot see it."))

    await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(PICTURE,)),
        ModelMessage("assistant", "Yes"),
        ModelMessage("user", "Look", attachments=(PAPER,)),
        input_attachment_types=TYPES,
    )

    results = [message for message in seen(model) if message.role == "tool"]
    assert [(m.text, m.attachments) for m in results] == [
        (f"{text_of(PAPER)}{told(PAPER)}", (PAPER,)),
        (REFUSED, ()),
    ]


@proves("11")
@pytest.mark.parametrize(
    ("attachments", "failure"),
    [((), REFUSAL), ((NOTE,), REFUSAL), ((PAPER,), ModelFailed("no key", status=401))],
)
async def test_other_failures_stay_what_they_are(attachments, failure):
    model = ScriptedModel([failure], saying("Never."))

    with pytest.raises(ModelFailed) as raised:
        await answered(
            application(LAZY),
            model,
            ModelMessage("user", "Look", attachments=attachments),
            input_attachment_types=TYPES,
        )

    assert (raised.value, len(model.asked)) == (failure, 1)


@proves("11")
async def test_an_answer_that_waits_for_the_clients_tools_keeps_what_was_read():
    question = ModelMessage("user", "Look", attachments=(PAPER,))
    external = {"draw": spec("draw")}
    app, types = application(LAZY), {"input_attachment_types": TYPES}
    waiting = ScriptedModel(calling(("c1", "draw", {})))
    going_on = ScriptedModel(saying("Done."))

    events = await answered(app, waiting, question, external=external, **types)
    kept = state(events)
    call = ToolCall("c1", "draw", "{}")
    asked = ModelMessage("assistant", " ", tool_calls=(call,), state=kept)
    result = ModelMessage("tool", "Drawn", tool_call_id="c1")
    await answered(app, going_on, question, asked, result, external=external, **types)

    assert [written["role"] for written in kept["tool_execution_history"]] == ["assistant", "tool"]
    assert [message.role for message in seen(going_on)] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert seen(going_on)[2].attachments == (PAPER,)


async def test_what_could_not_be_fetched_is_not_shown_as_if_it_was(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = False
    url = "http://files.example/terms.pdf?key=s3cret"
    away = Attachment("application/pdf", "Away", url=url)
    model = ScriptedModel(asking(url), saying("Sorry."))

    await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(away,)),
        input_attachment_types=TYPES,
    )

    problem = "External URL fetching is disabled by operator policy (EXTERNAL_URL_FETCH_ENABLED)."
    assert seen(model, 0) == [
        ModelMessage(
            "user", f"Look{told(away)}\n[The attachment 'Away' cannot be shown: {problem}]"
        )
    ]
    assert seen(model)[-1].text == (
        f"Error: Parameter attachment_url is invalid: {problem}\n\n"
        "Correct it and call the tool again."
    )


async def test_a_file_that_the_deployment_fetches_itself_is_shown_by_its_address():
    away = Attachment("application/pdf", "Away", url="http://files.example/terms.pdf")
    model = ScriptedModel(saying("I see."))

    await answered(
        application(LAZY),
        model,
        ModelMessage("user", "Look", attachments=(away,)),
        input_attachment_types=TYPES,
        features={"url_attachments": True},
    )

    assert seen(model)[-1].attachments == (away,)
