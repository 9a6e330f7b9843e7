from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from apps.accounts.models import ApiKey
from apps.live.events import InteractionResolved
from apps.live.journal import journal
from apps.live.models import Interaction, Run
from tests.catalog.rows import make_application, make_operator
from tests.console.pages import staff_account

pytestmark = pytest.mark.django_db

PAGE = "/admin/runs/run/"
CARD = {
    "title": "Pay <b>5</b>",
    "name": "pay",
    "arguments": {"amount": 5, "to": "<i>Ben</i>"},
    "editable": {},
    "risk": "destructive",
    "always": ["application"],
    "four_eyes": True,
}
QUESTION = {
    "question": "Which?",
    "input": "single",
    "options": [{"label": "A", "description": "The first."}, {"label": "B"}],
    "freeform": False,
}


def make_run(**fields: Any) -> Run:
    given = {"stream": uuid4(), "request": uuid4(), "application": "travel", "bucket": "user-0"}
    return Run.objects.create(**{**given, **fields})


def asking(kind: str = "approval", asked: Any = CARD, **fields: Any) -> Interaction:
    run = make_run(status="waiting", **fields)
    return Interaction.objects.create(run=run, key="t:1:0:c", kind=kind, asked=asked)


def staff(client: Client, *permissions: str) -> User:
    name = {"first_name": "Vera", "last_name": "Ott"}
    user = staff_account("vera", "see_all_applications", *permissions, **name)
    client.force_login(user)
    return user


def answer_page(asked: Interaction) -> str:
    return f"{PAGE}answer/{asked.pk}/"


def test_open_runs_are_listed_with_who_where_and_what_for(client):
    anna = User.objects.create_user("anna")
    key, _ = ApiKey.objects.create_key(name="Nightly")
    make_application("travel")
    began = timezone.now() - timedelta(minutes=5)
    make_run(bucket=f"user-{anna.pk}", holder="host-1", status="running", started_at=began)
    make_run(bucket=f"key-{key.prefix}", status="queued")
    make_run(status="done")
    asked = asking(bucket="session-1")
    staff(client, "view_run", "answer_for_others")

    answer = client.get(PAGE)

    page = answer.context["cl"].model_admin
    rows = [
        (strip_tags(page.person(row)), page.state(row), page.waits_for(row), row.holder)
        for row in answer.context["cl"].result_list
    ]
    link = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'
    words = link.format(answer_page(asked), "approval: Pay &lt;b&gt;5&lt;/b&gt;")
    assert rows == [
        ("anna", "Running", "", "host-1"),
        ("key Nightly", "Queued", "A free slot", ""),
        ("visitor 1", "Waiting", words, ""),
    ]
    assert page.since(answer.context["cl"].result_list[0]) == began
    only = client.get(f"{PAGE}?status=waiting").context["cl"].result_list
    assert [row.pk for row in only] == [asked.run_id]


def test_who_may_only_look_neither_answers_nor_stops(client):
    asked = asking()
    staff(client, "view_run")

    listed = client.get(PAGE)
    stop = {"action": "stop_selected", "_selected_action": [str(asked.run_id)]}
    client.post(PAGE, stop)
    answers = [
        client.get(answer_page(asked)).status_code,
        client.post(answer_page(asked), {"outcome": "approved"}).status_code,
        client.post(f"{PAGE}{asked.run_id}/delete/", {"post": "yes"}).status_code,
    ]

    asked.run.refresh_from_db()
    assert answer_page(asked) not in listed.text
    shown = listed.text
    assert ("approval" in shown, "Pay" in shown) == (True, False)
    assert answers == [403, 403, 403]
    assert (asked.run.status, asked.run.is_stop_requested) == ("waiting", False)


def test_staff_without_the_permission_do_not_see_open_runs(client):
    staff(client, "answer_for_others")

    assert client.get(PAGE).status_code == 403
    assert client.get(answer_page(asking())).status_code == 403


def test_another_person_approves_and_leaves_a_trace(client):
    asked = asking()
    user = staff(client, "view_run", "answer_for_others")

    card = client.get(answer_page(asked)).text
    answer = client.post(answer_page(asked), {"outcome": "approved", "reason": "unused"})

    asked.refresh_from_db()
    given = {"outcome": "approved", "arguments": {}, "reason": ""}
    [resolved] = journal.read_run(asked.run.pk)
    entry = LogEntry.objects.get()
    assert (answer.status_code, asked.run.status) == (302, "queued")
    assert (asked.answer, asked.answered_by) == (given, f"user-{user.pk}")
    assert isinstance(resolved, InteractionResolved)
    assert (resolved.by, resolved.answer) == ("Vera Ott", given)
    assert (entry.user, entry.object_id) == (user, str(asked.run_id))
    assert entry.change_message == "Approved on behalf of user-0: pay."
    assert "&lt;i&gt;Ben&lt;/i&gt;" in card
    assert "<i>Ben" not in card


def test_of_a_private_call_it_is_shown_how_long_its_arguments_are(client):
    private = {"title": "Remember", "arguments": {"content": "Is ill", "topics": ["health"]}}
    asked = asking(asked={**CARD, **private, "private": True})
    staff(client, "view_run", "answer_for_others")

    card = client.get(answer_page(asked)).text

    assert "6 characters, private" in card
    assert "10 characters, private" in card
    assert "Is ill" not in card
    assert "health" not in card


def test_a_denial_has_its_reason(client):
    asked = asking()
    staff(client, "view_run", "answer_for_others")

    client.post(answer_page(asked), {"outcome": "denied", "reason": "Too much."})

    asked.refresh_from_db()
    assert asked.answer == {"outcome": "denied", "arguments": {}, "reason": "Too much."}


def test_nobody_is_the_second_pair_of_eyes_for_their_own_run(client):
    operator = make_operator()
    asked = asking(bucket=f"user-{operator.pk}")
    client.force_login(operator)

    page = client.get(answer_page(asked)).text
    refused = client.post(answer_page(asked), {"outcome": "approved"})

    asked.refresh_from_db()
    assert "Another user must decide this" in page
    assert (refused.status_code, asked.answer, asked.run.status) == (200, None, "waiting")
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (
            {"outcome": "answered", "choices": "B"},
            {"outcome": "answered", "choices": ["B"], "text": ""},
        ),
        ({"outcome": "skipped"}, {"outcome": "skipped", "choices": [], "text": ""}),
        ({"outcome": "answered", "choices": "C"}, None),
        ({"outcome": "answered"}, None),
        ({"outcome": "approved"}, None),
    ],
)
def test_a_question_is_answered_as_it_offers(client, sent, stored):
    asked = asking("question", QUESTION)
    client.force_login(make_operator())

    client.post(answer_page(asked), sent)

    asked.refresh_from_db()
    assert asked.answer == stored


def test_words_of_their_own_answer_a_question_that_takes_them(client):
    free = {"question": "Why?", "input": "multiple", "options": [{"label": "A"}], "freeform": True}
    asked = asking("question", free)
    client.force_login(make_operator())

    client.post(
        answer_page(asked), {"outcome": "answered", "choices": ["A"], "text": "And because."}
    )

    asked.refresh_from_db()
    assert asked.answer == {"outcome": "answered", "choices": ["A"], "text": "And because."}


SIGN_IN = {"title": "Connect Mail to continue", "server": "mail.example", "host": "id.example"}
FORM = {"title": "A question from desk", "server": "desk", "mode": "form", "message": "<b>PIN?"}
CALL = {"name": "_platform.set_field", "arguments": {"name": "x"}, "permission": None}


@pytest.mark.parametrize(
    ("kind", "card", "sent", "stored", "said"),
    [
        ("sign_in", SIGN_IN, "skipped", {"outcome": "skipped"}, "Skipped {}: a sign-in."),
        (
            "client_tool",
            CALL,
            "failed",
            {"outcome": "failed", "error": "An operator ended this call. Too late."},
            "Failed {}: _platform.set_field.",
        ),
        ("sign_in", SIGN_IN, "connected", None, None),
        ("client_tool", CALL, "done", None, None),
    ],
)
def test_what_only_the_person_can_do_is_ended_for_them_and_leaves_a_trace(
    client, kind, card, sent, stored, said
):
    asked = asking(kind, card)
    staff(client, "view_run", "answer_for_others")

    client.post(answer_page(asked), {"outcome": sent, "reason": "Too late."})

    asked.refresh_from_db()
    assert asked.answer == stored
    said_all = list(LogEntry.objects.values_list("change_message", flat=True))
    assert said_all == ([] if said is None else [said.format("on behalf of user-0")])


@pytest.mark.parametrize("outcome", ["declined", "accepted"])
def test_what_a_server_asks_while_its_call_goes_on_can_only_be_declined(client, outcome):
    run = make_run(status="running")
    asked = Interaction.objects.create(run=run, key="t:1", kind="elicitation", asked=FORM)
    user = staff(client, "view_run", "answer_for_others")

    listed = client.get(PAGE).text
    card = client.get(answer_page(asked)).text
    client.post(answer_page(asked), {"outcome": outcome})

    asked.refresh_from_db()
    given = {"outcome": "declined", "content": {}, "by": "Vera Ott"}
    assert answer_page(asked) in listed
    assert "&lt;b&gt;PIN?" in card
    assert asked.answer == (given if outcome == "declined" else None)
    assert asked.answered_by == (f"user-{user.pk}" if outcome == "declined" else "")


def test_what_the_clock_answers_is_shown_and_not_offered(client):
    asked = asking("timer", {"title": "Later"})
    client.force_login(make_operator())

    assert answer_page(asked) not in client.get(PAGE).text
    assert client.get(answer_page(asked)).status_code == 302


def test_what_was_answered_meanwhile_is_not_answered_again(client):
    asked = asking()
    Interaction.objects.update(answer={"outcome": "denied"})
    client.force_login(make_operator())

    answer = client.post(answer_page(asked), {"outcome": "approved"}, follow=True)

    asked.refresh_from_db()
    assert asked.answer == {"outcome": "denied"}
    assert "This question was already answered" in answer.text


@pytest.mark.parametrize("status", ["running", "queued", "waiting"])
def test_whoever_may_change_runs_stops_them(client, status):
    run = make_run(status=status)
    user = staff(client, "view_run", "change_run")

    client.post(PAGE, {"action": "stop_selected", "_selected_action": [str(run.pk)]})

    run.refresh_from_db()
    assert run.is_stop_requested
    assert run.status == ("running" if status == "running" else "queued")
    assert LogEntry.objects.values_list("user", "change_message").get() == (user.pk, "Stopped.")


def test_nobody_approves_in_the_admin_what_they_asked_for_in_a_team(client):
    vera = staff(client, "view_run", "answer_for_others")
    make_application("travel")
    asked = asking(bucket=f"user-{vera.pk}-team-3")

    shown = client.get(answer_page(asked))
    client.post(answer_page(asked), {"outcome": "approved"})

    asked.refresh_from_db()
    assert (shown.context["needs_other"], asked.answer) == (True, None)
