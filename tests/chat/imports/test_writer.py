"""Imported conversations behave like all others, and belong to their owner only."""

from __future__ import annotations

import io
import json
from datetime import datetime
from threading import Barrier, Thread
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from apps.accounts.caller import Caller, caller_in
from apps.catalog.models import Application
from apps.chat import window
from apps.chat.exports.conversation import document
from apps.chat.imports.tree import UnreadableConversation
from apps.chat.imports.writer import ConversationImportReport, import_file
from apps.conversations.access import own
from apps.conversations.branches import path
from apps.conversations.models import Conversation
from apps.live.models import Run, RunSummary
from tests.chat.imports.samples import LIBRECHAT, OPEN_WEBUI, TRIP, chatgpt, chatgpt_node, file_of
from tests.chat.scripts import open_tab, says

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def bring(caller: Caller, application: Application, *documents: Any) -> ConversationImportReport:
    return import_file(caller, application, file_of(*documents))


def test_conversations_come_in_with_their_titles_times_and_branches(grace, application):
    report = bring(grace, application, TRIP, OPEN_WEBUI, LIBRECHAT, {"odd": 1})

    assert report == ConversationImportReport(
        sources={"ChatGPT": 1, "Open WebUI": 1, "LibreChat": 1},
        messages=12,
        unreadable=1,
        skipped=[("", "unknown format")],
    )
    trip = own(grace).get(imported_from="chatgpt")
    assert [(one.role, one.text) for one in path(trip)] == [
        ("user", "Where is Riga?"),
        ("assistant", "In Latvia."),
        ("user", "How far is it?"),
        ("assistant", "Far."),
    ]
    assert (trip.title, trip.is_unread, trip.application) == ("Trip to Riga", False, application)
    assert trip.updated_at == datetime.fromisoformat("2023-11-14T22:13:25Z")
    sums = own(grace).get(imported_from="open-webui")
    assert (sums.archived_at is not None, sums.pinned_at) == (True, None)
    assert not RunSummary.objects.exists()
    assert set(Run.objects.values_list("door", "status")) == {("import", "done")}


def test_the_page_is_told_of_them_as_of_any_other(grace, application):
    bring(grace, application, TRIP)
    trip = own(grace).get()
    last = path(trip)[-1]

    [_, turn] = window.turns_around(trip, last.uuid).turns

    told = [(event["type"], event.get("message", {}).get("text")) for event in turn["events"]]
    assert told == [
        ("message.added", "How far is it?"),
        ("message.complete", "Far."),
        ("run.status", None),
    ]


def test_the_same_conversation_is_imported_once_for_each_owner(grace, application):
    ada = caller_in(User.objects.create_user("ada").pk)
    without_id = chatgpt(chatgpt_node("q", None, "user", "Well?"), key="")

    reports = [bring(caller, application, TRIP, TRIP, without_id) for caller in (grace, grace, ada)]

    assert [(one.conversations, one.duplicates) for one in reports] == [(2, 1), (0, 3), (2, 1)]
    assert own(grace).count() == own(ada).count() == 2


def test_an_export_from_here_comes_back_once_and_to_others(grace, application):
    bring(grace, application, TRIP)
    exported = document(own(grace).get())
    ada = caller_in(User.objects.create_user("ada").pk)

    again, elsewhere = bring(grace, application, exported), bring(ada, application, exported)

    assert (again.conversations, again.duplicates) == (0, 1)
    assert elsewhere.sources == {"a QuickApps export": 1}
    [copy] = own(ada)
    assert [one.text for one in path(copy)] == [
        "Where is Riga?",
        "In Latvia.",
        "How far is it?",
        "Far.",
    ]


def test_texts_that_databases_refuse_are_mended(grace, application):
    bad = chatgpt(chatgpt_node("q", None, "user", "a\0b\ud83d"), title="T\0\ud83d")

    bring(grace, application, bad)

    found = own(grace).get()
    assert (found.title, path(found)[0].text) == ("T\N{REPLACEMENT CHARACTER}?", "a\ufffdb?")


def test_nothing_comes_of_half_a_file(grace, application):
    half = json.dumps([TRIP, OPEN_WEBUI])[:-100].encode()

    with pytest.raises(UnreadableConversation):
        import_file(grace, application, io.BytesIO(half))

    assert not Conversation.objects.exists()


async def test_an_imported_conversation_goes_on():
    async with open_tab() as (on, tab):
        caller = Caller(on.visitor.bucket)
        await sync_to_async(bring)(caller, on.application, TRIP)
        trip = await Conversation.objects.aget(imported_from="chatgpt")
        await tab.exchange("In kilometres?", says("300 km"), conversation=str(trip.pk))

    asked = [
        str(one.content)
        for one in on.model.asked[-1].messages
        if one.content and one.role in ("user", "assistant")
    ]
    assert asked[:4] == ["Where is Riga?", "In Latvia.", "How far is it?", "Far."]


def test_what_sent_a_message_comes_back_as_a_label_and_never_as_a_right(grace, application):
    asked = {
        "kind": "schedule",
        "title": "  Morning\n  news ",
        "untrusted": False,
        "at": "2026-11-02T07:00:00+01:00",
        "seconds": None,
        "budget": {"tokens": 10**9},
    }
    senders: list[Any] = [asked, {"kind": "continuation"}, {"kind": "operator", "title": "x"}, "me"]
    messages: list[dict[str, Any]] = []
    for number, sender in enumerate(senders):
        for role in ("user", "assistant"):
            before = messages[-1]["id"] if messages else None
            found = {"id": f"{role}-{number}", "parent": before, "role": role, "text": role}
            messages.append({**found, "sender": sender})

    bring(grace, application, {"id": "x", "leaf": "assistant-3", "messages": messages})

    read = [one.sender for one in path(own(grace).get())]
    label = {
        "kind": "schedule",
        "title": "Morning news",
        "untrusted": True,
        "at": "2026-11-02T07:00:00+01:00",
    }
    continued = {"kind": "continuation", "title": "", "untrusted": False}
    assert read == [label, None, continued, None, None, None, None, None]


@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_bring_each_conversation_once(grace, application):
    many = [chatgpt(*TRIP["mapping"].items(), key=f"chat-{n}") for n in range(5)]
    barrier, reports = Barrier(2), list[ConversationImportReport]()

    def work() -> None:
        barrier.wait(60)
        try:
            reports.append(bring(grace, application, *many))
        finally:
            connection.close()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sum(one.conversations for one in reports) == 5
    assert sum(one.duplicates for one in reports) == 5
    assert own(grace).count() == 5


def test_the_command_tries_imports_and_refuses(grace, application, tmp_path, capsys):
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([TRIP, {"odd": 1}]))
    how = {"user": "grace", "application": application.slug}

    call_command("import_conversations", str(file), **how, dry_run=True)
    assert not Conversation.objects.exists()
    call_command("import_conversations", str(file), **how)

    told = capsys.readouterr()
    assert told.out.splitlines() == [
        f"{verb}: 1 conversations with 5 messages and 0 files (1 from ChatGPT). Imported before: 0. "
        "Unreadable: 1."
        for verb in ("Would import", "Imported")
    ]
    assert "Without a title: unknown format." in told.err
    for wrong, reason in (
        ({"user": "nobody"}, "--user: there is no active account named 'nobody'"),
        ({"application": "none"}, "--application: grace cannot use an application named 'none'"),
    ):
        with pytest.raises(CommandError, match=reason):
            call_command("import_conversations", str(file), **{**how, **wrong})
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_conversations", str(tmp_path / "none"), **how)
