"""The search in a user's conversations, and its index in the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.conversations import search_index
from apps.conversations.access import own
from apps.conversations.keeping.search import (
    EXCERPT_CHARACTERS,
    excerpt,
    plain_excerpt,
    search_in,
    words_of,
)
from apps.conversations.models import Conversation, Message
from tests.chat.scripts import MANIFEST
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

ADA, BOB = Caller("user-901", "user", user_id=901), Caller("user-902", "user", user_id=902)
NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


def said(*texts: str, owner: Caller = ADA, title: str = "Untold", age: int = 0) -> Conversation:
    """Create a conversation of these messages that is that many days old."""
    application, _ = Application.objects.get_or_create(
        slug="searched", defaults={"title": "Searched", "manifest": MANIFEST}
    )
    conversation = Conversation.objects.create(
        application=application,
        owner=owner.bucket,
        title=title,
        updated_at=NOON - timedelta(days=age),
    )
    for text in texts:
        Message.objects.create(conversation=conversation, role=Message.Role.USER, text=text)
    return conversation


def found(query: str, most: int = 20) -> list[Any]:
    return [hit.id for hit in search_in(own(ADA), query, most)]


def excerpts(query: str) -> list[str]:
    return [hit.excerpt for hit in search_in(own(ADA), query, 20)]


WORDS = [
    ("We stay at the Hotel Adlon", "hotel"),
    ("We stay at the hotel", "HOTEL"),
    ("All hotels are full", "hotel"),
    ("Straße nach Zürich", "zürich"),
    ("Поезд в Москву", "москву"),
    ("קראתי את הספר", "ספר"),
    ("قرأت الكتاب أمس", "كتاب"),
    ("我想去东京旅行", "东京"),
    ("我想去东京旅行", "东京旅行"),
    ("明日は京都へ行きます", "京都へ"),
    ("내일 서울에 갑니다", "서울에"),
    ("ไปกรุงเทพพรุ่งนี้", "กรุงเทพ"),
    ("Go is faster", "go"),
    ("It is C++ code", "c++"),
    ("100 % cotton", "%"),
    ("snake_case names", "snake_case"),
    ("mail ada@example.com now", "ada@example.com"),
    ("mail ada@example.com now", "example"),
    ("see https://example.org/reports/may", "reports"),
    ("the file /srv/data/table.csv", "table"),
    ('he said "quoted" twice', '"quoted"'),
    ("it's done", "it's"),
    (r"C:\temp\notes", r"c:\temp"),
    ("emoji 🦊🦊🦊 here", "🦊🦊🦊"),
]
"""Texts of messages, and queries that find them."""


def test_words_of_messages_are_found():
    missed = []
    for text, query in WORDS:
        right = said("Nothing to see", text)
        said("Quite another matter")
        if found(query) != [right.pk]:
            missed.append((text, query))
        Conversation.objects.all().delete()

    assert missed == []


def test_titles_are_found():
    renamed = said("Hello", title="Trip to Lisbon")

    assert search_in(own(ADA), "lisbon", 5)[0].excerpt == ""
    assert found("lisbon") == [renamed.pk]


def test_marks_of_patterns_are_words_like_others():
    said("ten percent")
    said("snakeXcase")

    assert found("%") == found("snake_case") == found("_") == []


def test_more_of_the_words_come_first_and_then_the_newest():
    one = said("A hotel in Paris", age=9)
    old = said("A hotel for everybody", age=3)
    new = said("That hotel again", age=1)

    assert found("hotel paris") == [one.pk, new.pk, old.pk]
    assert found("hotel paris", most=2) == [one.pk, new.pk]


def test_the_words_may_stand_in_several_messages():
    spread = said("Where is a good hotel?", "Try Montmartre in Paris.")

    assert found("montmartre hotel") == [spread.pk]
    assert excerpts("montmartre hotel") == ["Try Montmartre in Paris."]


def test_what_hardly_fits_is_left_out():
    right = said("The budget of our department")
    said("We are well of")

    assert found("department budget of") == [right.pk]


def test_nobody_finds_the_conversations_of_others():
    said("A secret hotel", owner=BOB, title="Secret hotel")

    assert found("hotel") == found("secret") == found("se") == []


def test_the_excerpt_is_the_part_with_the_words_on_one_line():
    said(f"{'before ' * 100}\n\nthe\thotel\n{'after ' * 100}")

    [excerpt] = excerpts("hotel")

    assert "before the hotel after" in excerpt
    assert excerpt.startswith("…")
    assert excerpt.endswith("…")
    assert len(excerpt) <= EXCERPT_CHARACTERS + 2


@each_row(
    ("text", "query", "shown"),
    [
        ("We stay at the hotel", "hotel", "We stay at the hotel"),
        (
            "The city has many museums and one grand hotel by the river",
            "hotel",
            "…many museums and one grand hotel by the river",
        ),
        ("one \n\n  two\tthree", "two", "one two three"),
        (
            "He went straight on, of course, to the hotel",
            "of hotel",
            "…on, of course, to the hotel",
        ),
        (f"{'x' * 50}hotel", "hotel", f"…{'x' * 30}hotel"),
        (f"{'山' * 50}东京旅行", "东京", f"…{'山' * 30}东京旅行"),
        (f"{'İ' * 40} hotel", "hotel", f"…{'İ' * 29} hotel"),
        (f"hotel {'word ' * 100}", "hotel", f"hotel {'word ' * 58}word…"),
        (f"hotel{'y' * 400}", "hotel", f"hotel{'y' * 295}…"),
        ("Nothing of it", "Titled", "Nothing of it"),
    ],
)
def test_an_excerpt_begins_just_before_the_match_with_whole_words(text, query, shown):
    assert excerpt(text, words_of(query)) == shown


def test_an_excerpt_has_no_markup_unless_the_match_is_in_it():
    text = "# Trip\n\n- **City:** see [Oslo](https://example.com/fjord)\n\n" + "more `words` " * 100

    assert plain_excerpt(text, ["oslo"]).startswith("Trip City: see Oslo more words more")
    assert plain_excerpt(text, ["oslo"]).endswith("…")
    assert "](https://example.com/fjord)" in plain_excerpt(text, ["fjord"])


def test_the_number_of_queries_does_not_grow_with_the_hits(django_assert_num_queries):
    for number in range(30):
        said(f"The hotel number {number} in Paris", title=f"Hotel {number}")

    with django_assert_num_queries(9):  # three for each word, their order, their rows, the messages
        assert len(found("hotel paris", most=25)) == 25


def test_the_newest_messages_with_a_frequent_word_are_searched(monkeypatch):
    old, new = said("A hotel"), said("Another hotel")
    monkeypatch.setattr("apps.conversations.keeping.search.MOST_MESSAGES", 1)

    assert (found("hotel"), old.messages.count()) == ([new.pk], 1)


def test_frequent_words_are_searched_in_the_newest_conversations(monkeypatch):
    monkeypatch.setattr("apps.conversations.keeping.search.MOST_CONVERSATIONS", 1)
    said("A hotel", "bb", age=2)
    new = said("Another hotel, bb", "Nothing", age=1)
    unindexed = found("bb")

    monkeypatch.setattr("apps.conversations.keeping.search.MOST_FOUND", 1)

    assert (found("hotel"), found("another hotel"), unindexed) == ([new.pk], [new.pk], [new.pk])


def test_a_frequent_word_is_looked_up_for_each_message_of_the_user(
    monkeypatch, django_assert_num_queries
):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no table of words.")
    monkeypatch.setattr("apps.conversations.keeping.search.MOST_FOUND", 0)
    said("A hotel")

    with django_assert_num_queries(6) as queries:
        found("hotel")

    of_row = "FROM chat_message_words_stored WHERE chat_message_words_stored.id = chat_message.id"
    assert sum(of_row in one["sql"] for one in queries) == 1


def test_the_index_follows_changes_and_deletions():
    conversation = said("The first words", "Some others")

    conversation.messages.filter(text__startswith="The first").update(text="The replaced ones")
    after_change = found("first"), found("replaced")
    conversation.messages.last().delete()  # type: ignore[union-attr]
    after_deletion = found("others"), found("replaced")
    Conversation.objects.filter(pk=conversation.pk).delete()

    assert after_change == ([], [conversation.pk])
    assert after_deletion == ([], [conversation.pk])
    assert found("replaced") == []
    assert not Message.objects.filter(pk__in=search_index.messages_with("replaced")).exists()


def test_what_was_said_before_there_was_an_index_is_found():
    with connection.cursor() as cursor:
        # A schema editor of SQLite cannot be used in the transaction of a test.
        editor: Any = SimpleNamespace(connection=connection, execute=cursor.execute)
        search_index.drop(None, editor)
        conversation = said("Words of old")
        # PostgreSQL cannot index a table with pending constraint checks
        connection.check_constraints()
        search_index.create(None, editor)

    assert found("words") == [conversation.pk]
    assert Message.objects.filter(pk__in=search_index.messages_with("words")).count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has had a table all along")
@pytest.mark.django_db(transaction=True)
def test_the_former_index_of_postgresql_is_replaced_by_stored_words():
    with connection.schema_editor() as editor:
        search_index.drop(None, editor)
        editor.execute("CREATE INDEX chat_message_words ON chat_message (role)")
    old = said("Words of yore")
    for _ in range(2):  # an interrupted migration is run again
        with connection.schema_editor(atomic=False) as editor:
            search_index.store_vectors(None, editor)
    new = said("New words", age=1)
    Message.objects.filter(conversation=old).update(text="Other words")

    assert found("words") == [old.pk, new.pk]
    assert found("yore") == []
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('chat_message_words')")
        assert cursor.fetchone() == (None,)


def test_a_message_of_any_length_can_be_stored():
    words = " ".join(f"w{number:06}ñ" for number in range(300_000))

    conversation = said(words)

    assert found("w000007") == [conversation.pk]


HOSTILE = [
    "foo AND (",
    "w3 -w4",
    '"',
    '""" OR *',
    "NEAR(a b)",
    "text:foo",
    "'; DROP TABLE chat_message; --",
    "%",
    "\\",
    "a\0b",
    "\0",
    "\ud800abc",
    "foo:* & !bar | <-> (",
    "²½",
    "x" * 100_000,
    " ".join(f"word{n}" for n in range(1000)),
    "日" * 5_000,
]


def test_no_query_is_refused(subtests):
    said("foo bar w3 text 日本語")

    for query in HOSTILE:
        with subtests.test(ascii(query[:20])):
            assert isinstance(found(query), list)


@pytest.mark.parametrize("query", ["", " \n "])
def test_no_words_find_nothing(query):
    said("foo")

    assert found(query) == []


@given(st.text(st.characters(exclude_categories=()), max_size=30))
@settings(max_examples=100)
def test_no_text_is_refused(query):
    assert found(query) == []
