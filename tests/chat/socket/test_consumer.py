from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from apps.agent.events import RefusalDelta
from apps.conversations.models import Conversation, Message
from apps.errors import ModelFailed
from apps.live.models import JournalEntry, Run
from tests.chat.scripts import (
    PATIENCE,
    Visitor,
    add_application,
    counts,
    open_tab,
    reasons,
    says,
    scene,
    settled,
    text_of,
    thinks,
)
from tests.contract import proves, proves_feature

pytestmark = pytest.mark.django_db


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


@proves_feature("page", "text", "usage")
@proves("T-04", "D-07")
async def test_a_question_is_answered_and_stored():
    async with open_tab() as (on, tab):
        frames = await tab.exchange("How warm is it?", says("12"), says(" degrees"), counts(7, 2))

    messages = [message async for message in Message.objects.select_related("run")]
    run = await Run.objects.aget()
    common = {"conversation": tab.conversation, "run": str(run.pk)}
    complete = frames[-2]["message"]
    assert frames == [
        {
            "type": "message.added",
            "message": {
                "id": str(messages[0].uuid),
                "role": "user",
                "text": "How warm is it?",
                "attachments": [],
                "created_at": messages[0].created_at.isoformat(),
            },
            "seq": 1,
            **common,
        },
        {"type": "run.status", "status": "running", "seq": 2, **common},
        {"type": "message.delta", "text": text_of(frames), "seq": 12, **common},
        {
            "type": "message.complete",
            "message": {
                "id": str(messages[1].uuid),
                "role": "assistant",
                "text": "12 degrees",
                "attachments": [],
                "finish_reason": "stop",
                "usage": {"prompt_tokens": 7, "completion_tokens": 2},
                "models": ["paced"],
                "version": 1,
                "first_text_seconds": complete["first_text_seconds"],
                "seconds": complete["seconds"],
            },
            "seq": 15,
            **common,
        },
        {"type": "run.status", "status": "done", "seq": 16, **common},
    ]
    assert 0 <= complete["first_text_seconds"] <= complete["seconds"]
    assert [(m.role, m.text, m.run_id) for m in messages] == [
        ("user", "How warm is it?", run.pk),
        ("assistant", "12 degrees", run.pk),
    ]
    assert (run.status, run.finished_at is not None) == ("done", True)
    assert (await Conversation.objects.aget()).owner == on.visitor.bucket


@proves("2.6", "T-03")
async def test_an_answer_that_never_ends_is_cut_and_stored_so(monkeypatch):
    monkeypatch.setattr("apps.agent.progress.MOST_CHARACTERS", 1000)
    async with open_tab() as (on, tab):
        on.model.put(says("x" * 800), says("x" * 800))

        await tab.ask("Go on for ever.")
        frames = await tab.until_over()

    told = "x" * 1000 + "\n\n[The answer was cut here: the limit is 1,000 characters.]"
    answer = await Message.objects.aget(role="assistant")
    assert text_of(frames) == told
    assert (answer.text, answer.finish_reason) == (told, "length")
    assert frames[-1]["status"] == "done"


@proves_feature("page", "cancel")
@proves("T-08")
@pytest.mark.usefixtures("nothing_predefined")
async def test_stop_ends_the_request_to_the_model_and_keeps_what_there_was():
    async with open_tab() as (on, tab):
        on.model.put(says("It is "), thinks("hm"))
        await tab.ask("How warm is it?")
        before = await tab.until("stage.delta")

        await tab.send_json_to({"type": "stop"})
        after = await tab.until_over()

        await asyncio.wait_for(on.model.was_cancelled.wait(), PATIENCE)

    answer = await Message.objects.aget(role="assistant")
    run = await Run.objects.aget()
    assert kinds(before) == [
        "message.added",
        "run.status",
        "message.delta",
        "stage.opened",
        "stage.delta",
    ]
    assert kinds(after) == ["stage.closed", "message.complete", "run.status"]
    assert (after[0]["failed"], after[2]["status"]) == (True, "stopped")
    assert after[1]["message"]["text"] == "It is "
    assert (answer.text, answer.finish_reason) == ("It is ", "stopped")
    assert answer.state == {"tool_execution_history": []}
    assert (run.status, on.hub.streams.logs, on.hub.supervisors) == ("stopped", {}, {})


async def test_an_answer_goes_on_when_nobody_watches_it():
    async with open_tab() as (on, tab):
        on.model.put(says("one "))
        conversation = await tab.ask("Count.")
        seen = await tab.until("message.delta")

        await on.visitor.leave()
        on.model.put(says("two"), None)
        await settled(on.hub)
        tab = await on.visitor.tab(on.hub)
        opened = await tab.open(conversation, seen[-1]["seq"])
        rest = await tab.until_over()

    assert opened == {
        "type": "conversation.opened",
        "conversation": conversation,
        "title": "Count.",
        "last": rest[-1]["seq"],
        "branches": {},
        "run": None,
    }
    assert text_of(seen + rest) == "one two"
    assert kinds(rest) == ["message.delta", "message.complete", "run.status"]


@proves_feature("page", "reconnect")
@proves("T-05")
async def test_a_reload_at_any_point_of_an_answer_loses_and_doubles_nothing():
    pieces = [f"{number} " for number in range(6)]
    async with open_tab() as (on, tab):
        conversation = await tab.ask("Count.")
        frames = await tab.until("run.status")
        for piece in pieces:
            on.model.put(says(piece))
            frames += await tab.until("message.delta")
            tab = await on.visitor.tab(on.hub)
            await tab.open(conversation, frames[-1]["seq"])
        on.model.put(None)
        frames += await tab.until_over()

        tab = await on.visitor.tab(on.hub)
        replays = []
        for after in range(frames[-1]["seq"] + 1):
            await tab.open(conversation, after)
            replays.append(await tab.until_over() if after < frames[-1]["seq"] else [])
        assert await tab.is_silent()

    text = "".join(pieces)
    assert text_of(frames) == text
    for after, replay in enumerate(replays):
        # The question and the status have the first two numbers, and each character has the next
        # one.
        assert text_of(replay) == text[max(0, after - 2) :]
        assert [frame["seq"] for frame in replay if frame["type"] != "message.delta"] == [
            frame["seq"]
            for frame in frames
            if frame["type"] != "message.delta" and frame["seq"] > after
        ]


async def test_what_a_model_thinks_is_a_step_that_a_reload_shows_again_and_no_part_of_the_answer():
    async with open_tab() as (on, tab):
        live = await tab.exchange("2 + 2?", reasons("Let me "), reasons("see."), says("Four"))
        again = await on.visitor.tab(on.hub)
        await again.open(tab.conversation, 0)
        replayed = await again.until_over()

    for frames in (live, replayed):
        opened, *deltas, closed = [f for f in frames if f["type"].startswith("stage.")]
        assert opened["title"] == "Thinking"
        assert "".join(delta["text"] for delta in deltas) == "Let me see."
        assert (closed["failed"], closed["seconds"] >= 0) == (False, True)
        assert text_of(frames) == "Four"
    answer = await Message.objects.aget(role="assistant")
    assert answer.text == "Four"
    assert "Let me" not in json.dumps(answer.state)


async def test_a_refusal_is_the_answers_text():
    async with open_tab() as (_, tab):
        frames = await tab.exchange("How do I break in?", RefusalDelta("I may not."))

    assert text_of(frames) == "I may not."
    assert (await Message.objects.aget(role="assistant")).text == "I may not."


async def test_two_tabs_see_the_same():
    async with scene() as on:
        first = await on.visitor.tab(on.hub)
        conversation = await first.ask("Count.")
        second = await on.visitor.tab(on.hub)
        opened = await second.open(conversation)
        on.model.put(says("one"), None)

        seen = [await first.until_over(), await second.until_over()]

    assert seen[0] == seen[1]
    assert opened["run"] == {"id": seen[0][0]["run"], "status": "running"}


async def test_a_question_that_is_sent_again_is_taken_once():
    request = uuid4()
    async with open_tab() as (on, tab):
        conversation = await tab.ask("Count.", request=request)
        first = await tab.until("run.status")

        again = await on.visitor.tab(on.hub)
        same = await again.ask("Count.", request=request)
        await tab.ask("Count.", conversation, request=request)
        on.model.put(says("one"), None)
        seen = [first + await tab.until_over(), await again.until_over()]
        late = await on.visitor.tab(on.hub)
        await late.ask("Count.", request=request)
        seen.append(await late.until_over())

    assert same == conversation
    assert seen[0] == seen[1] == seen[2]
    assert (await Run.objects.acount(), await Message.objects.acount()) == (1, 2)
    assert await Conversation.objects.acount() == 1


async def test_a_second_question_is_refused_while_the_first_is_answered():
    async with open_tab() as (on, tab):
        conversation = await tab.ask("Count.")
        await tab.until("run.status")

        refusal = await tab.refusal(conversation=conversation)
        on.model.put(says("one"), None)
        await tab.until_over()
        frames = await tab.exchange("Count more.", says("two"))

    assert (refusal["type"], refusal["code"]) == ("error", "run_going")
    assert text_of(frames) == "two"
    assert [message.role async for message in Message.objects.all()] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


@proves_feature("page", "limits")
async def test_questions_beyond_the_rate_are_refused_but_not_one_that_is_sent_again(settings):
    settings.PERSON_REQUESTS_PER_MINUTE, request = 1, uuid4()
    async with open_tab() as (on, tab):
        first = await tab.exchange("Count.", says("one"), request=request)
        refusal = await tab.refusal(conversation=tab.conversation)
        late = await on.visitor.tab(on.hub)
        await late.ask("Count.", request=request)
        again = await late.until_over()

    assert (refusal["type"], refusal["code"]) == ("error", "rate_limit_exceeded")
    assert refusal["text"].startswith("Rate limit reached for you: 1 request per minute.")
    assert first == again


@pytest.mark.usefixtures("at_noon")
async def test_an_answers_tokens_count_for_the_next_question(settings):
    settings.PERSON_TOKENS_PER_MINUTE = 9
    async with open_tab() as (on, tab):
        await tab.exchange("How warm is it?", says("12"), counts(7, 2))
        await settled(on.hub)
        refusal = await tab.refusal(conversation=tab.conversation)

    assert (refusal["type"], refusal["code"]) == ("error", "rate_limit_exceeded")
    assert refusal["text"].startswith("Rate limit reached for you: 9 tokens per minute.")


@pytest.mark.usefixtures("nothing_predefined")
async def test_the_next_question_brings_the_conversation_with_it():
    async with open_tab() as (on, tab):
        await tab.exchange("How warm is it?", says("12"))
        call = {"id": "call-1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
        stored = [
            {"role": "assistant", "content": " ", "tool_calls": [call]},
            {"role": "tool", "content": "12 C", "tool_call_id": "call-1"},
        ]
        state = {"tool_execution_history": stored}
        await Message.objects.filter(role="assistant").aupdate(state=state)
        await tab.exchange("Is that warm?", says("Yes"))

    said = [(message.role, message.text.strip()) for message in on.model.asked[1].messages]
    assert said == [
        ("user", "How warm is it?"),
        ("assistant", ""),
        ("tool", "12 C"),
        ("assistant", "12"),
        ("user", "Is that warm?"),
    ]


async def test_a_foreign_conversation_is_a_missing_one():
    async with open_tab() as (on, tab):
        await tab.exchange("Tell me.", says("secret"))
        other = await on.stranger()
        answers = []
        for conversation in (tab.conversation, str(uuid4())):
            answers.append(await other.open(conversation))
            answers.append(await other.refusal(conversation=conversation))

    missing = {
        "type": "error",
        "text": "This conversation does not exist.",
        "code": "conversation_not_found",
    }
    assert answers == [missing] * 4


async def test_a_socket_opens_the_conversation_of_its_address_by_itself():
    async with open_tab() as (on, tab):
        await tab.exchange("How warm is it?", says("12 degrees"))
        conversation = tab.conversation

        await tab.send_json_to({"type": "open", "conversation": conversation, "window": True})
        by_frame = await tab.frame()
        by_address = await (await on.visitor.tab(on.hub, f"?open={conversation}")).frame()
        refusals = []
        for unknown in (str(uuid4()), "nonsense", "%FF"):
            tab = await on.visitor.tab(on.hub, f"?open={unknown}")
            refusals.append((await tab.frame())["code"])
        later = await tab.open(conversation)

    assert (by_frame["type"], by_address) == ("conversation.opened", by_frame)
    assert refusals == ["conversation_not_found", "bad_frame", "bad_frame"]
    assert later["type"] == "conversation.opened"


async def test_a_conversation_is_not_reached_through_another_application():
    other = await add_application()
    async with open_tab() as (on, tab):
        await tab.exchange("Hello")
        elsewhere = Visitor(other, on.model)
        refusal = await (await elsewhere.tab(on.hub)).open(tab.conversation)
        await elsewhere.leave()

    assert refusal["code"] == "conversation_not_found"


async def test_one_socket_serves_all_applications_and_follows_none_if_it_is_told_to():
    other = await add_application()
    async with open_tab() as (on, tab):
        await tab.exchange("Hello")
        first = tab.conversation

        await tab.send_json_to({"type": "open", "conversation": None, "application": other.slug})
        await tab.exchange("And here?", conversation=None, application=other.slug)
        second = tab.conversation
        back = {"type": "open", "conversation": first, "application": on.visitor.slug}
        await tab.send_json_to(back)
        opened = await tab.until("conversation.opened")

    rows = Conversation.objects.order_by("created_at").values_list("pk", "application__slug")
    assert [(str(pk), slug) async for pk, slug in rows] == [
        (first, on.visitor.slug),
        (second, other.slug),
    ]
    assert opened[-1]["conversation"] == first


async def test_a_refused_frame_does_not_switch_the_application():
    other = await add_application()
    async with open_tab() as (on, tab):
        await tab.exchange("Hello")
        conversation = tab.conversation

        gone = {"type": "open", "conversation": str(uuid4()), "application": other.slug}
        refusals = [
            await tab.refusal(**gone),
            await tab.refusal(application="unknown"),
            await tab.refusal(application=other.slug, conversation=str(uuid4())),
        ]
        await tab.exchange("And now?", conversation=None)

    codes = [refusal["code"] for refusal in refusals]
    assert codes == ["conversation_not_found", "DeploymentNotFound", "conversation_not_found"]
    rows = Conversation.objects.values_list("application__slug", flat=True)
    assert {slug async for slug in rows} == {on.visitor.slug}
    assert tab.conversation != conversation


ID = "b3f0a7de-58f5-4c8c-9f3e-0a4f6f6d2f11"
OPEN, ASK = f'{{"type":"open","conversation":"{ID}"', f'{{"type":"ask","id":"{ID}","text":'


BAD_FRAMES: dict[str, tuple[str | bytes, str, str]] = {
    "empty": ("", "bad_frame", "Invalid JSON"),
    "no JSON": ("not JSON", "bad_frame", "Invalid JSON"),
    "a list": ("[]", "bad_frame", "an object"),
    "no type": ("{}", "bad_frame", "'type'"),
    "unknown type": ('{"type":"dance"}', "bad_frame", "'open', 'ask', 'stop'"),
    "no id": ('{"type":"open","conversation":"7"}', "bad_frame", "open.conversation: "),
    "negative number": (f'{OPEN},"after":-1}}', "bad_frame", "open.after: "),
    "huge number": (f'{OPEN},"after":1e99}}', "bad_frame", "open.after: "),
    "no text": (f"{ASK}7}}", "bad_frame", "ask.text: "),
    "no request": ('{"type":"ask","text":"Hi"}', "bad_frame", "ask.id: "),
    "blank": (f'{ASK}" \\n"}}', "empty_text", "Enter a question first"),
    "surrogate": (f'{ASK}"\\ud800"}}', "bad_frame", "hex"),
    "long question": (f'{ASK}"{"x" * 100_001}"}}', "too_long", "100,001"),
    "large frame": (f'{ASK}"{"é" * 600_000}"}}', "too_large", "1 MiB"),
    "deep": ("[" * 10_000, "bad_frame", ""),
    "binary": (b"\x00", "bad_frame", "binary"),
    "nothing to stop": ('{"type":"stop"}', "conversation_not_found", "Open a"),
}
"""Each with the code of its refusal, and a part of the text."""


async def test_a_bad_frame_is_answered_and_the_socket_stays():
    wrong = {}
    async with open_tab() as (_, tab):
        for name, (sent, code, part) in BAD_FRAMES.items():
            key = "text" if isinstance(sent, str) else "bytes"
            await tab.send_input({"type": "websocket.receive", key: sent})
            refusal = await tab.frame()
            if refusal["type"] != "error" or refusal["code"] != code or part not in refusal["text"]:
                wrong[name] = refusal
        frames = await tab.exchange("Are you there?", says("Still here."))

    assert wrong == {}
    assert text_of(frames) == "Still here."


async def test_characters_that_no_database_takes_are_replaced():
    async with open_tab() as (_, tab):
        frames = await tab.exchange("x\0y", says("a\0b"))

    assert text_of(frames) == "a\ufffdb"
    assert [m.text async for m in Message.objects.all()] == ["x\ufffdy", "a\ufffdb"]


@proves_feature("page", "errors")
async def test_a_failure_is_told_with_a_reference_and_what_there_was_is_kept():
    async with open_tab() as (on, tab):
        on.model.put(says("It is"), ModelFailed("broke off", reason="stream"))
        await tab.ask("How warm is it?")

        frames = await tab.until_over()

    assert kinds(frames)[-3:] == ["run.error", "message.complete", "run.status"]
    error, complete, status = frames[-3:]
    assert "failed while responding" in error["text"]
    assert len(error["reference"]) == 8
    assert error["reference"] not in error["text"]
    assert (complete["message"]["text"], complete["message"]["finish_reason"]) == ("It is", "error")
    assert status["status"] == "failed"
    assert (await Run.objects.aget()).status == "failed"


@pytest.mark.usefixtures("nothing_predefined")
async def test_a_retry_is_another_answer_beside_the_failed_one_which_no_model_reads():
    async with open_tab() as (on, tab):
        on.model.put(says("It is"), ModelFailed("broke off", reason="stream"))
        await tab.ask("How warm is it?")
        asked = (await tab.until_over())[0]["message"]
        frames = await tab.exchange("", says("12"), again=asked["id"])

    assert kinds(frames)[:3] == ["branches.changed", "message.added", "run.status"]
    assert frames[1]["message"] == asked
    assert [one.text for one in on.model.asked[1].messages] == ["How warm is it?"]
    stored = [one.text async for one in Message.objects.all()]
    assert stored == ["How warm is it?", "It is", "12"]


async def test_only_people_who_are_signed_in_use_an_application_that_is_not_public():
    async with scene(is_public=False) as on:
        user = await User.objects.acreate(username="grace")
        refusal = await (await on.visitor.tab(on.hub)).refusal()
        signed_in = Visitor(on.application, on.model, user=user)
        on.model.put(says("Hello"), None)
        tab = await signed_in.tab(on.hub)
        await tab.ask("Hi")
        frames = await tab.until_over()
        await signed_in.leave()

    assert refusal["code"] == "DeploymentNotFound"
    assert text_of(frames) == "Hello"
    assert (await Conversation.objects.aget()).owner == f"user-{user.pk}"


async def test_strangers_are_told_of_a_private_application_that_is_broken_as_of_a_missing_one():
    async with scene(is_public=False, manifest={"orchestrator": 7}) as on:
        user = await User.objects.acreate(username="grace")
        told = await (await on.visitor.tab(on.hub)).refusal()
        signed_in = Visitor(on.application, on.model, user=user)
        refusal = await (await signed_in.tab(on.hub)).refusal()
        await signed_in.leave()

    assert told == {
        "type": "error",
        "text": f"There is no application named {on.application.slug!r} that you may use.",
        "code": "DeploymentNotFound",
    }
    assert refusal["code"] == "application_broken"


async def test_a_browser_whose_session_has_ended_is_sent_to_the_page():
    async with scene() as on:
        on.visitor.session.session_key = None
        on.visitor.cookies["sessionid"] = "gone"
        tab = await on.visitor.tab(on.hub)

        refusal = await tab.frame()
        closed = await tab.receive_output(PATIENCE)

    assert refusal["code"] == "no_session"
    assert closed == {"type": "websocket.close", "code": 4401}


async def test_a_page_that_floods_its_socket_gets_an_answer_to_each_frame():
    async with open_tab() as (_, tab):
        for _ in range(200):
            await tab.send_input({"type": "websocket.receive", "text": "{}"})

        codes = {(await tab.frame())["code"] for _ in range(200)}
        silent = await tab.is_silent()

    assert codes <= {"bad_frame", "busy"}
    assert silent


async def test_a_deleted_conversation_takes_its_answer_with_it():
    async with open_tab() as (on, tab):
        on.model.put(says("one"))
        conversation = await tab.ask("Count.")
        await tab.until("message.delta")

        await (await Conversation.objects.aget(pk=conversation)).adelete()
        on.model.put(says("two"))
        frames = await tab.until_over()
        await asyncio.wait_for(on.model.was_cancelled.wait(), PATIENCE)
        reopened = await tab.open(conversation)

    assert frames[-1]["status"] == "stopped"
    assert reopened["code"] == "conversation_not_found"
    assert [await rows.objects.acount() for rows in (Run, JournalEntry, Message)] == [0, 0, 0]


@proves("T-14")
async def test_a_page_that_leaves_in_the_middle_of_anything_leaves_nothing_running():
    async with open_tab() as (on, tab):
        await tab.exchange("Count.")
        conversation = tab.conversation

        for turns in range(30):
            tab = await on.visitor.tab(on.hub)
            for after in (0, 1):
                frame = {"type": "open", "conversation": conversation, "after": after}
                await tab.send_json_to(frame)
            for _ in range(turns):
                await asyncio.sleep(0)
            await on.visitor.leave()
            assert on.hub.streams.viewers == {}


async def test_an_answer_is_unread_until_somebody_looks_at_it():
    async with scene() as on:
        here, there = [await on.visitor.tab(on.hub) for _ in range(2)]
        watched = await here.ask("Count.")
        left = await there.ask("Count.")
        await there.send_json_to({"type": "open", "conversation": watched, "after": 0})
        await there.until("conversation.opened")  # frames of the other run may come before
        on.model.put(None, None)
        await here.until_over()
        await settled(on.hub)
        await here.open(watched)
        unread = Conversation.objects.filter(is_unread=True).values_list("pk", flat=True)
        before = [str(pk) async for pk in unread]
        await (await on.visitor.tab(on.hub)).open(left)
        after = [pk async for pk in unread.all()]

    assert before == [left]
    assert after == []
