"""Tags of conversations: adding, removing, limits, filters, copies and erasure."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.conversations.forks import fork
from apps.conversations.keeping.arrangement import erase
from apps.conversations.keeping.tags import MOST_OWN_TAGS, MOST_TAGS, tags_of
from apps.conversations.models import Conversation, ConversationTag, Message
from tests.chat.pages.test_views import add_application, add_conversation, visiting
from tests.chat.rail.test_content import caller_of, get, post
from tests.chat.rail.test_selection import add_three, change

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def tags(conversation: Conversation) -> list[str]:
    return tags_of([conversation.pk]).get(conversation.pk, [])


def search(client: Client, **query: Any) -> list[str]:
    hits = client.get("/conversations/search/", query).json()["hits"]
    return [hit["title"] for hit in hits]


def test_tags_are_added_and_removed_and_are_in_the_row():
    client = visiting()
    conversation = add_conversation(add_application(), client, "Oslo")

    added = post(client, conversation, "arrange", add_tags=" work, #trips ,work,, a  b ").json()
    removed = post(client, conversation, "arrange", add_tags="Zoo", remove_tags="work").json()

    assert added["conversation"]["tags"] == ["a b", "trips", "work"]
    assert removed["conversation"]["tags"] == ["a b", "trips", "Zoo"]
    assert [row["tags"] for row in get(client)["conversations"]] == [["a b", "trips", "Zoo"]]


def test_selected_conversations_are_tagged_together():
    client = visiting()
    one, two, three = add_three(client)
    post(client, one, "arrange", add_tags="old,work")

    told = change(client, one, two, add_tags="work,new", remove_tags="old").json()

    assert {row["title"]: row["tags"] for row in told["conversations"]} == {
        "one": ["new", "work"],
        "two": ["new", "work"],
    }
    assert tags(three) == []


def test_a_tag_that_differs_only_in_case_gets_the_known_spelling():
    client = visiting()
    one, two, _ = add_three(client)
    post(client, one, "arrange", add_tags="Work")

    post(client, two, "arrange", add_tags="wORK")

    assert tags(two) == ["Work"]


def test_tags_of_others_can_neither_be_read_nor_changed():
    owner, stranger = visiting(), visiting()
    theirs, mine = add_three(owner)[0], add_three(stranger)[0]
    post(owner, theirs, "arrange", add_tags="Secret")

    refused = post(stranger, theirs, "arrange", remove_tags="Secret")
    change(stranger, theirs, mine, remove_tags="Secret", add_tags="secret")
    offered = stranger.get("/conversations/search/filters/").json()["tags"]

    assert (refused.status_code, tags(theirs), tags(mine)) == (404, ["Secret"], ["secret"])
    assert offered == ["secret"]
    assert search(stranger, tag="Secret") == []


@pytest.mark.parametrize(
    ("written", "status", "message"),
    [
        ("x" * 41, 400, "A tag can have at most 40 characters."),
        (
            ",".join(f"tag {number}" for number in range(MOST_TAGS + 1)),
            409,
            "A conversation can have at most 10 tags.",
        ),
    ],
)
def test_a_change_beyond_a_limit_is_refused_and_changes_nothing(written, status, message):
    client = visiting()
    conversation = add_conversation(add_application(), client)
    post(client, conversation, "arrange", add_tags="kept")

    refused = post(client, conversation, "arrange", add_tags=written, remove_tags="kept")

    assert (refused.status_code, refused.json()["error"]["message"]) == (status, message)
    assert tags(conversation) == ["kept"]


def test_a_user_can_have_a_limited_number_of_different_tags(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("apps.conversations.keeping.tags.MOST_OWN_TAGS", 2)
    client = visiting()
    one, two, _ = add_three(client)
    post(client, one, "arrange", add_tags="a,b")

    refused = post(client, two, "arrange", add_tags="c")
    known = post(client, two, "arrange", add_tags="b")

    assert MOST_OWN_TAGS == 200
    assert refused.json()["error"]["message"] == (
        "You have 2 tags, which is the limit. Remove one first."
    )
    assert (refused.status_code, known.status_code, tags(two)) == (409, 200, ["b"])


def test_a_request_without_a_change_names_the_fields():
    client = visiting()
    conversation = add_conversation(add_application(), client)

    refused = post(client, conversation, "arrange")

    assert refused.json()["error"]["message"] == (
        "Use pinned, archived, folder, add_tags or remove_tags."
    )


def test_a_search_is_narrowed_by_a_tag():
    client = visiting()
    one, two, three = add_three(client)
    for conversation in (one, two, three):
        Message.objects.create(conversation=conversation, role="user", text="A fjord")
    post(client, one, "arrange", add_tags="work")
    post(client, two, "arrange", add_tags="work,trips")
    post(client, three, "delete")

    assert search(client, tag="work") == ["two", "one"]
    assert search(client, q="fjord", tag="trips") == ["two"]
    assert search(client, q="fjord", tag="none") == []
    assert client.get("/conversations/search/filters/").json()["tags"] == ["trips", "work"]


def test_a_fork_has_the_tags_of_its_original():
    client = visiting()
    conversation = add_conversation(add_application(), client, "Oslo")
    question = Message.objects.create(conversation=conversation, role="user", text="Hi")
    answer = Message.objects.create(
        conversation=conversation, role="assistant", text="Hello", parent=question
    )
    post(client, conversation, "arrange", add_tags="work")

    made = fork(
        caller_of(conversation), conversation.application_slug, conversation.pk, answer.uuid
    )

    assert tags(made) == ["work"]


def test_tags_are_erased_with_their_conversation():
    client = visiting()
    one, two, _ = add_three(client)
    change(client, one, two, add_tags="work")

    erase(Conversation.objects.filter(pk=one.pk))

    assert [tag.conversation for tag in ConversationTag.objects.all()] == [two]


def test_the_list_reads_the_tags_of_all_rows_in_one_query(django_assert_max_num_queries):
    client = visiting()
    conversations = add_three(client)
    change(client, *conversations, add_tags="work")

    with django_assert_max_num_queries(1):
        found = tags_of([one.pk for one in conversations])

    assert set(found) == {one.pk for one in conversations}
