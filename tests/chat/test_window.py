"""A long conversation opens with its last turns, and earlier ones are loaded on demand."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.agent.events import StageDelta, StageOpened
from apps.chat import window
from apps.conversations.branches import shown_runs
from apps.conversations.models import Conversation, Message
from apps.live.journal import journal
from apps.live.models import JournalEntry
from tests.chat.long_conversations import add_turns, answer_text
from tests.chat.pages.test_views import add_application, add_conversation, visiting
from tests.chat.scripts import counts, open_tab, says, settled

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def client() -> Client:
    return visiting()


@pytest.fixture
def conversation(client: Client) -> Conversation:
    return add_conversation(add_application(), client)


def ask(client: Client, conversation: Conversation, query: str) -> Any:
    assert conversation.application is not None
    return client.get(f"/chat/{conversation.application_slug}/{conversation.pk}/turns/?{query}")


def places(told: dict[str, Any]) -> list[int]:
    return [turn["at"] for turn in told["turns"]]


def test_the_window_has_the_last_turns_and_each_text_once(conversation):
    runs = add_turns(conversation, 30, step="Looked it up.")

    found = window.last_turns(shown_runs(conversation), journal.last_number(conversation.pk), None)

    assert places(found.to_dict()) == list(range(22, 30))
    assert found.before == str(runs[22])
    asked, answered = Message.objects.filter(run=runs[29])
    assert found.turns[-1] == {
        "run": str(runs[29]),
        "at": 29,
        "events": [
            {
                "type": "message.added",
                "message": {
                    "id": str(asked.uuid),
                    "role": "user",
                    "text": "Question number 29",
                    "attachments": [],
                    "created_at": asked.created_at.isoformat(),
                },
            },
            {"type": "stage.opened", "stage": "1", "title": "Looking", "parent": None},
            {"type": "stage.delta", "stage": "1", "text": "Looked it up."},
            {"type": "stage.closed", "stage": "1", "failed": False, "seconds": 0.2},
            {"type": "message.delta", "text": answer_text(29)},
            {
                "type": "message.complete",
                "message": {
                    "id": str(answered.uuid),
                    "role": "assistant",
                    "attachments": [],
                    "finish_reason": "stop",
                },
            },
            {"type": "run.status", "status": "done"},
        ],
    }


def test_what_came_after_the_number_is_left_to_the_events(conversation):
    add_turns(conversation, 3)
    before_the_last = journal.first_number(UUID(shown_runs(conversation)[2]))
    assert before_the_last is not None

    found = window.last_turns(shown_runs(conversation), before_the_last - 1, None)

    assert [len(turn["events"]) for turn in found.turns] == [4, 4, 0]


def test_a_window_is_bounded_by_its_bytes_and_has_one_turn_at_least(conversation, monkeypatch):
    monkeypatch.setattr(window, "MOST_BYTES", 10_000)
    add_turns(conversation, 6, text=lambda number: "x" * (4_000 if number < 5 else 20_000))

    last = window.last_turns(shown_runs(conversation), journal.last_number(conversation.pk), None)
    before = window.turns_before(conversation, UUID(last.turns[0]["run"]))

    assert (places(last.to_dict()), places(before.to_dict())) == ([5], [3, 4])


def test_a_long_step_is_cut_until_it_is_opened(client, conversation):
    long = "x" * (window.LONGEST_STEP + 1)
    [run] = add_turns(conversation, 1, step=long)

    [turn] = window.last_turns(
        shown_runs(conversation), journal.last_number(conversation.pk), None
    ).turns
    [whole] = ask(client, conversation, f"run={run}").json()["turns"]

    cut = {"type": "stage.delta", "stage": "1", "text": long[:-1], "length": len(long)}
    assert turn["events"][2] == cut
    assert whole["events"][2] == {"type": "stage.delta", "stage": "1", "text": long}


def test_texts_of_steps_that_alternate_are_put_together_and_a_repeated_step_begins_anew():
    told = window.compact_frames(
        [
            StageOpened("1", "One", None),
            StageOpened("2", "Two", None),
            StageDelta("1", "a"),
            StageDelta("2", "b"),
            StageDelta("1", "c"),
            StageOpened("2", "Two", None),
            StageDelta("2", "d"),
        ],
        None,
    )

    texts = [(frame["stage"], frame["text"]) for frame in told if "text" in frame]
    assert texts == [("1", "ac"), ("2", "b"), ("2", "d")]


def test_earlier_and_later_turns_and_those_around_a_message_are_fetched(client, conversation):
    runs = add_turns(conversation, 60)
    message = Message.objects.filter(run=runs[30], role="assistant").get()

    before = ask(client, conversation, f"before={runs[40]}").json()
    first = ask(client, conversation, f"before={runs[5]}").json()
    after = ask(client, conversation, f"after={runs[40]}").json()
    around = ask(client, conversation, f"message={message.uuid}")

    assert (places(before), before["before"]) == (list(range(20, 40)), str(runs[20]))
    assert (places(first), first["before"]) == (list(range(5)), None)
    assert places(after) == list(range(41, 46))
    assert places(around.json()) == list(range(16, 36))
    assert "no-store" in around["cache-control"]


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("before=1", 400), ("x={run}", 400), ("before={run}&after={run}", 400)],
)
def test_what_cannot_be_read_is_refused(client, conversation, query, status):
    [run] = add_turns(conversation, 1)

    assert ask(client, conversation, query.format(run=run)).status_code == status


def test_others_and_what_is_not_shown_are_not_found(client, conversation):
    [run] = add_turns(conversation, 1)

    assert ask(visiting(), conversation, f"run={run}").status_code == 404
    assert ask(client, conversation, f"before={uuid4()}").status_code == 404
    assert ask(client, conversation, f"message={uuid4()}").status_code == 404


def test_the_journal_is_read_by_the_run_whatever_else_is_in_the_conversation(conversation):
    runs = add_turns(conversation, 50)

    rows = JournalEntry.objects.filter(run=runs[-1], last__lte=10_000).order_by("first")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")  # a small table makes it likely
    with CaptureQueriesContext(connection) as asked:
        journal.read_run(runs[-1], 10_000)

    assert "journal_run_first" in rows.explain()
    assert len(asked) == 1


async def test_a_page_gets_the_window_and_then_all_of_the_answer_that_is_going():
    async with open_tab() as (on, tab):
        await tab.exchange("First?", says("One."), counts(1, 1))
        await settled(on.hub)
        on.model.put(says("Tw"))
        await tab.ask("Second?", tab.conversation)
        await tab.until("message.delta")

        other = await on.visitor.tab(on.hub)
        opening = {"type": "open", "conversation": tab.conversation, "window": True}
        await other.send_json_to(opening)
        opened = await other.frame()
        on.model.put(says("o."), None)
        frames = await other.until_over()

    [turn] = opened["turns"]
    assert (turn["at"], opened["before"]) == (0, None)
    assert frames[0]["type"] == "message.added"
    assert frames[0]["seq"] == opened["after"] + 1
    assert "".join(one["text"] for one in frames if one["type"] == "message.delta") == "Two."
