"""Attachments reach a model of DIAL Core by their path, and Core checks the access."""

from typing import Any

from apps.agent.events import Event, RunFinished, StateSaved
from apps.agent.messages import Attachment, ModelMessage
from tests.capabilities.attachments.conversations import application, told
from tests.capabilities.runs import events_in
from tests.dial_core import Core
from tests.workspace.dial.callers import called

LAZY = {"type": "lazy_on_demand"}


async def asked(core: Core, app: Any, name: str, kind: str, content: bytes) -> list[Event]:
    """Return a question with a file of the application's caller."""
    with called(core) as workspace:
        kept = await workspace.files.keep(name, content, kind)
        attachment = Attachment(kind, name, url=kept.path)
        question = ModelMessage("user", "Look", attachments=(attachment,))
        return await events_in(workspace, app, question)


def attachment_of(message: dict[str, Any]) -> Attachment:
    (written,) = message["custom_content"]["attachments"]
    return Attachment(written["type"], written["title"], url=written["url"])


async def test_a_picture_goes_by_its_path(core):
    model = core.add_model("gpt", [[{"text": "A cat."}]])

    events = await asked(core, application(), "cat.png", "image/png", b"\x89PNG")

    message = model.asked[0]["messages"][-1]
    picture = attachment_of(message)
    assert (picture.url or "").startswith("files/")
    assert message["content"] == f"Look{told(picture)}"
    assert isinstance(events[-1], RunFinished)


async def test_a_content_that_the_model_refuses_is_taken_back(core):
    refusal = {"error": {"status": 400, "message": "Unsupported attachment"}}
    model = core.add_model(
        "gpt", [[refusal], [{"text": "I cannot."}]], inputAttachmentTypes=["application/pdf"]
    )

    events = await asked(core, application(LAZY), "terms.pdf", "application/pdf", b"%PDF-1")

    first, second = (body["messages"] for body in model.asked)
    assert [message["role"] for message in first[1:]] == ["user", "assistant", "tool"]
    assert "custom_content" not in first[1]
    assert attachment_of(first[-1]).type == "application/pdf"
    assert "custom_content" not in second[-1]
    assert second[-1]["content"].startswith("Error: the model does not accept this attachment")
    assert events[-2] == StateSaved({"tool_execution_history": []})


async def test_a_folder_of_the_operator_is_listed_and_read_on_demand(core):
    url = "files/public/handbook/rules.pdf"
    core.put(url, b"%PDF-1", "application/pdf")
    call = {"name": "internal_attachments_get_content", "arguments": {"attachment_url": url}}
    model = core.add_model(
        "gpt", [[{"tool_calls": [call]}], [{"text": "No dogs."}]], inputAttachmentTypes=["*/*"]
    )
    app = application(LAZY, contexts=[{"type": "folder", "url": "files/public/handbook/"}])

    with called(core) as workspace:
        events = await events_in(workspace, app, ModelMessage("user", "What holds?"))

    assert isinstance(events[-1], RunFinished)
    listing, content = (m for m in model.asked[1]["messages"] if m["role"] == "tool")
    assert f'"url":"{url}","type":"application/pdf","status":"new"' in listing["content"]
    assert attachment_of(content) == Attachment("application/pdf", "rules.pdf", url=url)
