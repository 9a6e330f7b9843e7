"""The answers to one question, for the comparison on the page."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings

from apps.catalog.models import Application
from apps.conversations.models import Conversation, Message
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def conversation(grace: User) -> Conversation:
    store_application(is_public=True, slug="travel", title="Travel", manifest=MANIFEST)
    row = Application.objects.get(slug="travel")
    return Conversation.objects.create(application=row, owner=f"user-{grace.pk}")


def say(conversation: Conversation, text: str, parent: Message | None = None) -> Message:
    role = Message.Role.USER if parent is None else Message.Role.ASSISTANT
    return Message.objects.create(
        conversation=conversation,
        role=role,
        text=text,
        parent=parent,
        finish_reason="" if parent is None else "stop",
        usage={} if parent is None else {"models": [f"model of {text}"], "seconds": 1.5},
    )


def read(browser: Client, conversation: Conversation, message: Any) -> Any:
    path = f"/chat/travel/{conversation.pk}/answers/"
    return browser.get(path, {"message": str(message)})


def test_all_answers_to_a_question_are_returned_with_their_models(browser, conversation):
    question = say(conversation, "Where to?")
    first, second = (say(conversation, text, question) for text in ("Oslo", "Rome"))
    Conversation.objects.update(leaf=first)

    answers = read(browser, conversation, question.uuid).json()["answers"]

    common = {"attachments": [], "finish_reason": "stop", "seconds": 1.5}
    assert answers == [
        {
            "id": str(first.uuid),
            "text": "Oslo",
            "models": ["model of Oslo"],
            "is_shown": True,
            **common,
        },
        {
            "id": str(second.uuid),
            "text": "Rome",
            "models": ["model of Rome"],
            "is_shown": False,
            **common,
        },
    ]


def test_the_shown_answer_and_the_newest_others_are_returned(browser, conversation):
    question = say(conversation, "Where to?")
    answers = [say(conversation, text, question) for text in "abcd"]
    Conversation.objects.update(leaf=answers[0])

    found = read(browser, conversation, question.uuid).json()["answers"]

    assert [one["text"] for one in found] == ["a", "c", "d"]


def test_hidden_metrics_are_not_returned(browser, conversation):
    question = say(conversation, "Where to?")
    say(conversation, "Oslo", question)

    with override_settings(ANSWER_FIGURES=[]):
        (answer,) = read(browser, conversation, question.uuid).json()["answers"]

    assert (answer["models"], answer["seconds"]) == ([], None)


def test_other_users_and_unknown_questions_get_nothing(browser, conversation):
    question = say(conversation, "Where to?")
    answer = say(conversation, "Oslo", question)
    mallory = Client()
    mallory.force_login(User.objects.create_user("mallory"))

    assert read(mallory, conversation, question.uuid).status_code == 404
    assert read(browser, conversation, uuid4()).status_code == 404
    assert read(browser, conversation, answer.uuid).status_code == 404
    assert read(browser, conversation, "x").status_code == 400
