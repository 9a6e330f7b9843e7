"""Only its author can store, change and remove feedback; it is deleted with its answer."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from apps.accounts.caller import caller_in
from apps.chat.exports.conversation import markdown
from apps.chat.visitors import adopt
from apps.conversations.models import Conversation, Message
from apps.doors.sessions import session_bucket
from apps.feedback.models import LONGEST_COMMENT, Feedback
from apps.task_api import conversations
from tests.catalog.rows import make_application
from tests.chat.pages.test_views import run_in
from tests.console.admin.rows.test_races import ON_POSTGRESQL, at_once

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
DOWN = {"rating": "down", "reason": "wrong", "comment": "It was Tuesday."}
TOLD = {**DOWN, "shares_transcript": False}


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def answer_in(owner: str, **fields: Any) -> Message:
    """Return the answer "Monday." to "Which day is it?"."""
    application = fields.pop("application", None) or make_application()
    conversation = Conversation.objects.create(application=application, owner=owner, **fields)
    run = run_in(conversation, application_number=3)
    rows = Message.objects
    rows.create(conversation=conversation, run=run, role="user", text="Which day is it?")
    return rows.create(conversation=conversation, run=run, role="assistant", text="Monday.")


def address(answer: Message) -> str:
    return reverse("rate", args=[answer.uuid])


def test_an_answer_is_rated_read_again_changed_and_the_feedback_removed(ada):
    client, answer = signed_in(ada), answer_in(f"user-{ada.pk}")
    listing = f"{reverse('feedback')}?message={answer.uuid}&message=nonsense"

    first = client.post(address(answer), {"rating": "up"})
    Feedback.objects.update(state="done", note="Nice.")
    changed = client.post(address(answer), DOWN)
    row = Feedback.objects.get()
    told = client.get(listing).json()
    removed = client.delete(address(answer))

    assert first.json()["feedback"]["rating"] == "up"
    assert changed.json() == {"feedback": TOLD}
    assert told == {"feedback": {str(answer.uuid): TOLD}}
    assert (row.bucket, row.application_version, row.run) == (f"user-{ada.pk}", 3, answer.run_id)
    assert (row.state, row.note, row.transcript) == ("new", "Nice.", None)
    assert removed.status_code == 204
    assert client.get(listing).json() == {"feedback": {}}
    assert not Feedback.objects.exists()


def test_the_conversation_is_sent_along_only_if_the_person_says_so(ada):
    client, answer = signed_in(ada), answer_in(f"user-{ada.pk}")

    client.post(address(answer), {**DOWN, "shares_transcript": "on"})
    sent = Feedback.objects.get().transcript or {}
    client.post(address(answer), DOWN)

    texts = {name: said["text"] for name, said in sent.items()}
    assert texts == {"question": "Which day is it?", "answer": "Monday."}
    assert Feedback.objects.get().transcript is None


def test_only_the_owner_of_the_conversation_rates_its_answers(ada):
    foreign = answer_in("user-0")
    ended = answer_in(f"user-{ada.pk}", application=make_application("gone"))
    Conversation.objects.filter(pk=ended.conversation_id).update(application=None)
    question = ended.conversation.messages.get(role="user")
    client = signed_in(ada)

    statuses = [client.post(address(one), DOWN).status_code for one in (foreign, ended, question)]

    assert statuses == [404, 404, 404]
    application = foreign.conversation.application
    assert application is not None
    Feedback.objects.create(
        message=foreign.uuid, application=application, bucket="user-0", rating="up"
    )
    assert client.get(f"{reverse('feedback')}?message={foreign.uuid}").json() == {"feedback": {}}
    client.delete(address(foreign))
    assert Feedback.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"rating": "sideways"}, "rating"),
        ({"rating": "up", "reason": "wrong"}, "reason"),
        ({"rating": "down", "comment": "x" * (LONGEST_COMMENT + 1)}, "comment"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(ada, fields, wrong):
    answer = answer_in(f"user-{ada.pk}")

    refused = signed_in(ada).post(address(answer), fields)

    assert (refused.status_code, [*refused.json()["errors"]]) == (400, [wrong])
    assert not Feedback.objects.exists()


def test_a_deleted_conversation_takes_the_copy_with_it_and_leaves_the_rating(ada):
    answer = answer_in(f"user-{ada.pk}")
    signed_in(ada).post(address(answer), {**DOWN, "shares_transcript": "on"})

    conversations.delete(caller_in(ada.pk), answer.conversation_id)

    row = Feedback.objects.get()
    assert (row.comment, row.transcript, row.shares_transcript) == (DOWN["comment"], None, False)
    assert row.conversation is None


def test_feedback_goes_with_the_account_and_with_the_application(ada):
    bob = User.objects.create_user("bob")
    for user, slug in ((ada, "one"), (bob, "two")):
        answer = answer_in(f"user-{user.pk}", application=make_application(slug))
        signed_in(user).post(address(answer), DOWN)

    ada.delete()
    left = [row.bucket for row in Feedback.objects.all()]
    Feedback.objects.get().application.delete()

    assert left == [f"user-{bob.pk}"]
    assert not Feedback.objects.exists()


def test_a_visitor_rates_too_and_whoever_signs_in_keeps_the_feedback(ada):
    client = Client()
    bucket = session_bucket(client.session.session_key or "")
    client.get(reverse("feedback"))
    answer = answer_in(bucket)
    client.post(address(answer), DOWN)

    adopt(bucket, caller_in(ada.pk))

    assert Feedback.objects.get().bucket == f"user-{ada.pk}"


def test_feedback_is_in_the_download_of_its_conversation(ada):
    answer = answer_in(f"user-{ada.pk}")
    signed_in(ada).post(address(answer), DOWN)

    assert "Your feedback: bad · Incorrect · It was Tuesday." in markdown(answer.conversation)


@ON_POSTGRESQL
@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_rate_an_answer_at_once_leave_one_rating(ada):
    answer = answer_in(f"user-{ada.pk}")
    clients = [signed_in(ada) for _ in range(4)]

    answers = at_once(
        *(lambda client=client: client.post(address(answer), DOWN) for client in clients)
    )

    assert [one.status_code for one in answers] == [200] * 4
    assert [row.visible_fields for row in Feedback.objects.all()] == [TOLD]
