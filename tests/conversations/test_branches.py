"""The tree of a conversation: other answers, edited questions, deleted turns, and the model's
messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.db import database_sync_to_async
from django.test import AsyncClient

from apps.agent.context.summaries import ConversationSummary
from apps.agent.model import Finish
from apps.chat.exports.conversation import document, markdown
from apps.chat.socket import viewed_conversation
from apps.conversations.access import find_conversation
from apps.conversations.branches import OutlineRow, Tree, path, shown_branches, shown_runs
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.summaries import ConversationSummaries
from apps.doors.sessions import session_bucket
from apps.live import leases
from apps.live.models import JournalEntry, Run
from tests.chat.scripts import Scene, Tab, open_tab, says, scene

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_predefined"),
    pytest.mark.postgres,
]


async def shown(conversation: str) -> list[str]:
    row = await Conversation.objects.aget(pk=conversation)
    return [message.text for message in await database_sync_to_async(path)(row)]


async def id_of(text: str) -> str:
    return str((await Message.objects.aget(text=text)).uuid)


async def change(tab: Tab, kind: str, text: str, conversation: str = "") -> None:
    conversation = conversation or tab.conversation
    frame = {"type": kind, "conversation": conversation, "message": await id_of(text)}
    await tab.send_json_to(frame)


async def replayed(tab: Tab, conversation: str) -> tuple[dict[str, Any], list[str]]:
    """Return the frame that opens the conversation, and the texts of its questions and answers."""
    opened = await tab.open(conversation)
    frames: list[dict[str, Any]] = []
    while not frames or frames[-1]["seq"] < opened["last"]:
        frames.append(await tab.frame())
    messages = [frame["message"] for frame in frames if "message" in frame]
    return opened, [message["text"] for message in messages]


def read(on: Scene) -> list[str]:
    """Return the last request of the model."""
    return [message.text for message in on.model.asked[-1].messages]


async def test_another_answer_stands_beside_the_first_and_the_model_reads_neither():
    async with open_tab() as (on, tab):
        await tab.exchange("Tides?", says("At noon."))
        await tab.exchange("Sure?", says("Yes."))

        await tab.exchange("", says("At one."), again=await id_of("Tides?"))
        other = await on.visitor.tab(on.hub)
        opened, texts = await replayed(other, tab.conversation)

    row = await Conversation.objects.aget()
    runs = await database_sync_to_async(shown_runs)(row)
    newest = await Message.objects.aget(text="At one.")
    beside = [await id_of("At noon."), str(newest.uuid)]
    assert read(on) == ["Tides?"]
    assert await shown(tab.conversation) == texts == ["Tides?", "At one."]
    assert [UUID(run) for run in runs] == [newest.run_id]
    assert opened["branches"] == {str(newest.run_id): {"ids": beside, "at": 1}}
    assert await Message.objects.filter(role="user").acount() == 2


@pytest.mark.parametrize("is_going", [False, True])
async def test_an_answer_that_ends_while_its_page_is_opened_is_told_with_its_branches(
    is_going, monkeypatch
):
    async with open_tab() as (on, tab):
        await tab.exchange("Tides?", says("At noon."))
        await tab.exchange("", says("At one."), again=await id_of("Tides?"))
        question = await Message.objects.aget(text="Tides?")
        answers = [await id_of("At noon."), await id_of("At one.")]
        run = await Run.objects.aget(pk=question.run_id or "")

        def found_before_it_ended(*asked: Any) -> Conversation:
            found = find_conversation(*asked)
            found.leaf = question
            return found

        monkeypatch.setattr(viewed_conversation, "find_conversation", found_before_it_ended)
        if is_going:
            monkeypatch.setattr(leases, "open_run", {run.stream: run}.get)
        opened = await (await on.visitor.tab(on.hub)).open(tab.conversation)

    assert opened["branches"] == {str(run.pk): {"ids": answers, "at": 1}}


async def test_an_edited_question_begins_a_branch_and_all_tabs_are_told():
    async with scene() as on:
        tab, other = await on.visitor.tab(on.hub), await on.visitor.tab(on.hub)
        await tab.exchange("Tides?", says("At noon."))
        await tab.exchange("Sure?", says("Yes."))
        await other.open(tab.conversation)

        await tab.exchange("Really?", says("No."), edits=await id_of("Sure?"))
        told = await other.until("branches.changed")
        await tab.exchange("Storms?", says("None."), edits=await id_of("Tides?"))
        first = await shown(tab.conversation)
        await change(tab, "branch.switch", "Tides?")
        await tab.until("branches.changed")
        opened, texts = await replayed(tab, tab.conversation)

    assert told[-1]["conversation"] == tab.conversation
    assert first == ["Storms?", "None."]
    assert texts == ["Tides?", "At noon.", "Really?", "No."]
    edited, earlier = await id_of("Tides?"), await id_of("Really?")
    assert opened["branches"] == {
        edited: {"ids": [edited, await id_of("Storms?")], "at": 0},
        earlier: {"ids": [await id_of("Sure?"), earlier], "at": 1},
    }


async def test_the_same_frame_twice_begins_one_branch():
    async with open_tab() as (_, tab):
        await tab.exchange("Tides?", says("At noon."))
        request, asked = uuid4(), await id_of("Tides?")
        await tab.exchange("", says("At one."), request=request, again=asked)

        await tab.ask("", tab.conversation, request=request, again=asked)
        assert await tab.is_silent()

    assert await Run.objects.acount() == 2


@pytest.mark.parametrize("kind", ["branch.switch", "turn.delete"])
async def test_nothing_is_changed_while_an_answer_is_written(kind):
    async with open_tab() as (on, tab):
        await tab.exchange("Tides?", says("At noon."))
        on.model.put(says("Hm"))
        await tab.ask("Sure?", tab.conversation)
        await tab.until("message.delta")

        await change(tab, kind, "Tides?")
        refusal = await tab.until("error")
        await tab.ask("", tab.conversation, again=await id_of("Tides?"), while_running="queue")
        second = await tab.until("error")

    assert (refusal[-1]["code"], second[-1]["code"]) == ("run_going", "run_going")


async def test_branches_of_somebody_else_are_not_there():
    async with open_tab() as (on, tab):
        await tab.exchange("Tides?", says("At noon."))
        on.visitor.session.session_key = "browser-2"
        stranger = await on.visitor.tab(on.hub)

        await change(stranger, "turn.delete", "Tides?", tab.conversation)
        refusal = await stranger.frame()

    assert refusal["code"] == "conversation_not_found"
    assert await Message.objects.acount() == 2


async def test_a_message_of_another_conversation_is_refused():
    async with open_tab() as (_, tab):
        await tab.exchange("Storms?", says("None."))
        await tab.exchange("Tides?", says("At noon."), conversation=None)

        refusal = await tab.refusal(
            text="", conversation=tab.conversation, again=await id_of("Storms?")
        )

    assert refusal == {
        "type": "error",
        "text": "This message no longer exists. Reload the page.",
        "code": "no_message",
    }


async def test_an_answer_that_was_cut_goes_on_as_one():
    async with open_tab() as (on, tab):
        on.model.put(says("Once upon "), Finish("length"), None)
        await tab.ask("A tale.")
        cut = (await tab.until_over())[-2]["message"]

        frames = await tab.exchange("", says("a time."), continues=cut["id"])
        refusal = await tab.refusal(text="", conversation=tab.conversation, continues=cut["id"])

    row = await Conversation.objects.select_related("application").aget()
    assert frames[0]["message"]["sender"]["kind"] == "continuation"
    assert read(on)[1] == "Once upon "
    assert read(on)[2].startswith("Your answer was cut off.")
    written = await database_sync_to_async(markdown)(row)
    assert "Once upon" in written
    assert "a time." in written
    assert written.count("## Answer") == 1
    assert "cut off" not in written
    assert refusal["code"] == "not_cut"


async def test_a_deleted_turn_leaves_the_ones_after_it_and_nothing_of_itself():
    async with open_tab() as (on, tab):
        await tab.exchange("One?", says("1"))
        await tab.exchange("Two?", says("2"))
        await tab.exchange("Three?", says("3"))
        gone = (await Message.objects.aget(text="2")).run_id
        assert gone is not None
        row = await Conversation.objects.aget()
        kept = ConversationSummaries(row.pk, await database_sync_to_async(path)(row))
        await kept.keep(ConversationSummary("They counted.", 2))

        await change(tab, "turn.delete", "Two?")
        await tab.until("branches.changed")
        after_second = await shown(tab.conversation)
        await change(tab, "turn.delete", "One?")
        await tab.until("branches.changed")
        _, texts = await replayed(tab, tab.conversation)
        await tab.exchange("Four?", says("4"))

    assert after_second == ["One?", "1", "Three?", "3"]
    assert texts == ["Three?", "3"]
    assert read(on) == ["Three?", "3", "Four?"]
    assert not await JournalEntry.objects.filter(run=gone).aexists()
    assert not await Run.objects.filter(pk=gone).aexists()
    assert not await Message.objects.filter(role="summary").aexists()


async def test_the_last_turn_can_be_deleted_and_the_conversation_goes_on():
    async with open_tab() as (_, tab):
        await tab.exchange("One?", says("1"))
        before = (await tab.open(tab.conversation))["last"]
        await change(tab, "turn.delete", "One?")
        await tab.until("branches.changed")
        empty, texts = await shown(tab.conversation), (await tab.open(tab.conversation))["last"]
        await tab.exchange("Two?", says("2"))

    assert empty == []
    assert texts > before
    assert await shown(tab.conversation) == ["Two?", "2"]


async def test_a_summary_counts_for_the_paths_that_its_last_message_is_on():
    async with open_tab() as (_, tab):
        await tab.exchange("One?", says("1"))
        await tab.exchange("Two?", says("2"))
        await tab.exchange("Three?", says("3"))
        row = await Conversation.objects.aget()
        look = database_sync_to_async(path)
        first = ConversationSummaries(row.pk, await look(row))
        await first.keep(ConversationSummary("Both.", 2))
        await tab.exchange("Too?", says("II"), edits=await id_of("Two?"))
        await row.arefresh_from_db()
        second = ConversationSummaries(row.pk, await look(row))

        assert (await first.find(), await second.find()) == (ConversationSummary("Both.", 2), None)
        await second.keep(ConversationSummary("One.", 1))
        assert (await first.find(), await second.find()) == (
            ConversationSummary("Both.", 2),
            ConversationSummary("One.", 1),
        )


async def test_the_export_as_json_has_the_whole_tree_and_markdown_the_path():
    async with open_tab() as (_, tab):
        await tab.exchange("Tides?", says("At noon."))
        await tab.exchange("", says("At one."), again=await id_of("Tides?"))

    row = await Conversation.objects.select_related("application").aget()
    told = json.loads(json.dumps(await database_sync_to_async(document)(row)))
    asked, first, second = told["messages"]
    assert [one["text"] for one in told["messages"]] == ["Tides?", "At noon.", "At one."]
    assert (asked["parent"], first["parent"], second["parent"]) == (None, asked["id"], asked["id"])
    assert told["leaf"] == second["id"]
    assert "At noon." not in await database_sync_to_async(markdown)(row)


async def test_the_download_knows_two_formats():
    async with open_tab() as (on, tab):
        await tab.exchange("Tides?", says("At noon."))
        row = await Conversation.objects.aget()
        client = AsyncClient()
        visitor = await client.get(f"/chat/{on.application.slug}/")
        assert visitor.status_code == 200
        session = await client.asession()
        owner = session_bucket(session.session_key or "")
        await Conversation.objects.aupdate(owner=owner)
        address = f"/chat/{on.application.slug}/{row.pk}/download/?format="

        whole = await client.get(f"{address}json")
        unknown = await client.get(f"{address}xml")

    assert whole.headers["Content-Disposition"].endswith(".json")
    assert whole.json()["id"] == tab.conversation
    assert (unknown.status_code, unknown.content) == (400, b"format: use markdown or json.")


@pytest.mark.parametrize("kind", ["again", "switch", "delete"])
async def test_a_conversation_without_parents_gets_them_with_its_first_branch(kind):
    async with open_tab() as (on, tab):
        await tab.exchange("One?", says("1"))
        await tab.exchange("Two?", says("2"))
        await Message.objects.aupdate(parent=None)
        await Conversation.objects.aupdate(leaf=None)

        before = await shown(tab.conversation)
        await tab.exchange("", says("I"), again=await id_of("One?"))
        again, asked = await shown(tab.conversation), read(on)
        if kind == "switch":
            await change(tab, "branch.switch", "1")
            await tab.until("branches.changed")
        elif kind == "delete":
            await change(tab, "turn.delete", "One?")
            await tab.until("branches.changed")

    whole = ["One?", "1", "Two?", "2"]
    expected = {"again": ["One?", "I"], "switch": whole, "delete": ["Two?", "2"]}
    assert (before, again, asked) == (whole, ["One?", "I"], ["One?"])
    assert await shown(tab.conversation) == expected[kind]


def row(pk: int, parent: int | None = None) -> Message:
    return Message(pk=pk, parent_id=parent)


@pytest.mark.parametrize(
    ("rows", "leaf", "shown"),
    [
        pytest.param([row(1), row(2), row(3)], None, [1, 2, 3], id="without parents"),
        pytest.param([row(1), row(2), row(3, 2)], 3, [1, 2, 3], id="a copy and its first question"),
        pytest.param([row(1), row(2, 1), row(3, 3)], 3, [3], id="another root"),
        pytest.param([row(1), row(2, 1), row(3, 3)], 2, [1, 2], id="the first root"),
        pytest.param([row(1), row(2, 1), row(3, 2)], 9, [1, 2, 3], id="a leaf that is gone"),
        pytest.param([], None, [], id="empty"),
    ],
)
def test_a_path_is_read_from_rows(rows, leaf, shown):
    found = Tree.of(rows)

    assert [one.pk for one in found.up(found.end(leaf))] == shown


class CountedRows(list[OutlineRow]):
    passes = 0

    def __iter__(self) -> Iterator[OutlineRow]:
        self.passes += 1
        return super().__iter__()


def test_a_long_conversation_is_gone_through_a_few_times_and_not_for_each_message():
    roles = ("user", "assistant")
    rows = [OutlineRow(pk, None, None, roles[pk % 2], uuid4().hex, "") for pk in range(1_000)]
    messages = CountedRows(rows)
    counted = replace(Tree.of(rows), messages=messages)

    shown = counted.shown(None)

    assert (shown, shown_branches(counted, shown, None)) == (rows, {})
    assert messages.passes <= 2
