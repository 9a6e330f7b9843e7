"""The filters of the search in a user's conversations, with and without words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import Caller, bucket_of
from apps.catalog.models import Application
from apps.conversations.access import own
from apps.conversations.keeping.search import search_in
from apps.conversations.keeping.search_filters import SearchFilters
from apps.conversations.models import Conversation, Message
from tests.chat.scripts import MANIFEST

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

ADA = Caller("user-901", "user", user_id=901)
FILE = {"title": "plan.pdf", "type": "application/pdf", "url": "files/a/plan.pdf"}
CODE = "It is:\n\n```python\nprint(1)\n```"


def said(
    title: str,
    text: str = "A hotel",
    app: str = "travel",
    days: int = 0,
    files: tuple[Any, ...] = (),
    owner: str = ADA.bucket,
) -> Conversation:
    application, _ = Application.objects.get_or_create(
        slug=app, defaults={"title": app.title(), "manifest": MANIFEST}
    )
    changed = timezone.now() - timedelta(days=days, minutes=1)
    conversation = Conversation.objects.create(
        application=application, owner=owner, title=title, updated_at=changed
    )
    Message.objects.create(
        conversation=conversation, role=Message.Role.USER, text=text, attachments=list(files)
    )
    return conversation


@pytest.fixture
def conversations() -> None:
    said("today")
    said("week", app="desk", days=6, text=f"A hotel. {CODE}")
    said("month", app="desk", days=20, files=(FILE,))
    said("year", days=200, text=CODE, files=(FILE,))
    said("old", days=400)
    said("others", owner="user-902", text=CODE, files=(FILE,))


def found(query: str = "", app: str = "", days: int = 0, *has: str) -> list[str]:
    filters = SearchFilters(app, days, frozenset(has))
    return [hit.title for hit in search_in(own(ADA), query, 20, filters)]


FILTERS: list[tuple[tuple[Any, ...], list[str]]] = [
    (("", "desk"), ["week", "month"]),
    (("", "", 7), ["today", "week"]),
    (("", "", 30), ["today", "week", "month"]),
    (("", "", 365), ["today", "week", "month", "year"]),
    (("", "", 0, "files"), ["month", "year"]),
    (("", "", 0, "code"), ["week", "year"]),
    (("", "", 0, "files", "code"), ["year"]),
    (("", "desk", 7, "code"), ["week"]),
    (("", "unknown"), []),
    (("hotel", "desk"), ["week", "month"]),
    (("hotel", "", 0, "code"), ["week"]),
    (("hotel", "", 365), ["today", "week", "month"]),
    (("hotel", "desk", 7, "files"), []),
    (("year", "", 0, "files"), ["year"]),
    ((), []),
]
"""The arguments of a search, and the titles that it finds, in their order."""


@pytest.mark.usefixtures("conversations")
def test_filters_narrow_a_search_and_find_the_newest_conversations_alone():
    assert [found(*asked) for asked, _ in FILTERS] == [expected for _, expected in FILTERS]


@pytest.mark.usefixtures("conversations")
def test_conversations_of_a_deleted_application_are_found_by_its_former_slug():
    Conversation.objects.filter(application__slug="desk").update(
        application=None, former_slug="desk", former_title="Desk"
    )

    assert found("", "desk") == ["week", "month"]


def test_a_summary_that_repeats_code_is_no_code_of_the_conversation():
    conversation = said("plain")
    Message.objects.create(conversation=conversation, role=Message.Role.SUMMARY, text=CODE)

    assert found("", "", 0, "code") == []


def test_files_are_searched_in_the_newest_thousand_conversations(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("apps.conversations.keeping.search.MOST_CONVERSATIONS", 2)
    for number in range(3):
        said(f"{number}", days=number, files=(FILE,))

    assert found("", "", 0, "files") == ["0", "1"]


def test_a_search_with_filters_takes_a_bounded_number_of_queries(
    conversations, django_assert_max_num_queries
):
    with django_assert_max_num_queries(2):
        found("", "desk", 30, "files", "code")
    with django_assert_max_num_queries(8):
        found("hotel", "desk", 30, "code")


@pytest.fixture
def browser(django_user_model: Any) -> Client:
    user = django_user_model.objects.create_user("ada")
    said("mine", text=CODE, owner=bucket_of(user.pk))
    said("plain", app="desk", owner=bucket_of(user.pk))
    said("hers", text=CODE, owner="user-902", app="secret")
    client = Client()
    client.force_login(user)
    return client


def test_the_filters_are_in_the_address_of_the_search(browser: Client):
    def titles(query: str) -> list[str]:
        hits = browser.get(f"/conversations/search/?{query}").json()["hits"]
        return [hit["title"] for hit in hits]

    assert titles("app=desk") == ["plain"]
    assert titles("has=code") == ["mine"]
    assert titles("q=hotel&days=7") == ["plain"]
    assert titles("has=code&has=files") == titles("app=secret") == titles("") == []


@pytest.mark.parametrize(
    ("query", "message"),
    [("days=8", "days: use 7, 30 or 365."), ("has=tables", "has: use files or code.")],
)
def test_an_unknown_filter_is_refused(browser: Client, query: str, message: str):
    refused = browser.get(f"/conversations/search/?{query}")

    assert (refused.status_code, refused.json()["error"]["message"]) == (400, message)


def test_only_the_applications_of_own_conversations_are_offered(browser: Client):
    offered = browser.get("/conversations/search/filters/").json()

    assert offered == {
        "applications": [
            {"slug": "desk", "title": "Desk"},
            {"slug": "travel", "title": "Travel"},
        ],
        "tags": [],
    }
