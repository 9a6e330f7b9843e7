"""Questions with files: the run's input, what is stored, what is refused, and accepted types."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.conversations.models import Conversation, Message
from apps.workspace.local.files import files
from tests.catalog.rows import manifest_with
from tests.chat.pages.test_views import add_application, visiting
from tests.chat.scripts import MANIFEST, ScriptedWorkspace, Tab, Visitor, open_tab, says, scene
from tests.contract import proves

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


async def keep(bucket: str, name: str = "conversations/1/plan.md") -> str:
    stored = await database_sync_to_async(files.keep)(bucket, name, b"# Plan", "text/markdown")
    return str(stored.path)


async def send(tab: Tab, *urls: str, text: str = "What is this?", **fields: Any) -> None:
    attachments = [{"url": url} for url in urls]
    frame = {"type": "ask", "id": str(uuid4()), "text": text, "attachments": attachments}
    await tab.send_json_to({**frame, **fields})


async def refusal(tab: Tab) -> tuple[str, str]:
    frame = await tab.frame()
    return frame["type"], frame["code"]


async def test_a_question_takes_its_files_to_the_model_and_into_the_conversation():
    async with scene() as on:
        on.model.put(says("A plan."), None)
        path = await keep(on.visitor.bucket)
        tab = await on.visitor.tab(on.hub)
        begin = uuid4()

        await send(tab, path, path, begin=str(begin))
        frames = await tab.until_over()

    written = {"type": "text/markdown", "title": "plan.md", "url": path}
    added = next(frame for frame in frames if frame["type"] == "message.added")
    assert added["message"]["attachments"] == [written]
    [asked] = [message for message in on.model.asked[0].messages if message.role == "user"]
    assert asked.text.count(f"<url>{path}</url>") == 1
    question = await Message.objects.aget(role="user")
    assert (question.attachments, question.conversation_id) == ([written], begin)


async def test_files_without_words_are_a_question_that_is_called_after_them():
    async with open_tab() as (on, tab):
        on.model.put(None)

        await send(tab, await keep(on.visitor.bucket), text="")
        await tab.until_over()

    assert (await Conversation.objects.aget()).title == "plan.md"


async def test_what_is_not_the_visitors_cannot_be_attached():
    async with open_tab() as (on, tab):
        foreign = await keep("user-7")
        for url in (foreign, f"files/{on.visitor.bucket}/nothing", "https://example.org/a", ""):
            await send(tab, url)
            assert await refusal(tab) == ("error", "file_missing")
        await send(tab, *["files/a/b"] * 21)
        assert await refusal(tab) == ("error", "bad_frame")
        await send(tab, text=" ")
        assert await refusal(tab) == ("error", "empty_text")

    assert not await Conversation.objects.aexists()


async def test_a_wish_for_an_id_that_is_taken_leads_to_another_conversation():
    async with scene() as on:
        on.model.put(None, None)
        first, second = await on.visitor.tab(on.hub), await on.visitor.tab(on.hub)
        begin = uuid4()
        for tab in (first, second):
            await send(tab, begin=str(begin))
            await tab.until_over()

    ids = {conversation.pk async for conversation in Conversation.objects.all()}
    assert (len(ids), begin in ids) == (2, True)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("Europe/Riga", "Europe/Riga"),
        ("America", ""),
        ("../../etc/passwd", ""),
        ("Mars/Olympus", ""),
        ("x" * 500, ""),
        ("", ""),
    ],
)
async def test_a_run_knows_the_time_zone_and_the_folder_of_the_question(told, known):
    async with scene() as on:
        on.model.put(None)
        callers: list[Caller] = []
        tab = await Remembering(on, callers).tab(on.hub)
        begin = uuid4()

        await send(tab, begin=str(begin), timezone=told)
        await tab.until_over()
        await tab.disconnect()

    assert [(c.client.timezone, c.folder) for c in callers] == [(known, f"conversations/{begin}/")]


class Remembering(Visitor):
    """A visitor, and the callers that workspaces were opened for."""

    def __init__(self, on: Any, callers: list[Caller]) -> None:
        super().__init__(on.application, on.model)
        self.callers = callers

    def opened(self, caller: Caller) -> Any:
        self.callers.append(caller)
        return ScriptedWorkspace(self.model)

    @property
    def open_workspace(self) -> Any:
        return self.opened


# --- Types that applications take ---------------------------------------------------------------

TAKES_PDF = {**MANIFEST, "features": {"input_attachment_types": ["application/pdf", "image/*"]}}


@proves("G-02")
@pytest.mark.parametrize(
    ("manifest", "types"),
    [(TAKES_PDF, "application/pdf,image/*"), (MANIFEST, ""), (manifest_with(), "")],
)
def test_the_page_is_told_which_files_it_may_offer(manifest, types):
    application = add_application(manifest=manifest)

    assert visiting().get(application.get_absolute_url()).context["upload_types"] == types


@proves("G-02")
async def test_a_question_takes_files_of_these_types_alone():
    async with scene(manifest=TAKES_PDF) as on:
        on.model.put(says("Fine."), None)
        path = await keep(on.visitor.bucket)
        tab = await on.visitor.tab(on.hub)

        await send(tab, path)
        refused = await refusal(tab)
        await send(tab)
        frames = await tab.until_over()

    assert refused == ("error", "wrong_type")
    assert any(frame["type"] == "message.added" for frame in frames)
