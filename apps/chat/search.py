"""The search in a person's conversations."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from apps.chat.models import Conversation, Message
from apps.chat.search_index import is_indexed, messages_with
from apps.live.events import storable

MOST_WORDS = 10
LONGEST_WORD = 60
"""Characters. PostgreSQL refuses words of more than 2 KB."""
EXCERPT_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Hit:
    """A conversation, and the part of one message around the first word that was found.

    `turn` is the id under which the page shows that message, "" if only the title has the words.
    """

    id: UUID
    title: str
    updated_at: datetime
    excerpt: str
    message: str = ""
    """The id of the best message, "" if the title alone has the words."""


def search(mine: QuerySet[Conversation], query: str, most: int) -> list[Hit]:
    """Those of `mine` that have the words of the query, the best first.

    A conversation with more of the words, counted by their letters, comes before one with fewer;
    of equal ones the newest is first. Those with less than half of the best are left out.
    """
    words = words_of(query)
    scores: Counter[UUID] = Counter()
    for word in words:
        for found in conversations_with(word, mine):
            scores[found] += len(word)
    enough = max(scores.values(), default=0) / 2
    good = [key for key, score in scores.items() if score >= enough]
    rows = mine.filter(pk__in=good).only("title", "updated_at")
    ranked = sorted(rows, key=lambda row: (scores[row.pk], row.updated_at), reverse=True)
    return [hit_of(row, words) for row in ranked[:most]]


def hit_of(row: Conversation, words: list[str]) -> Hit:
    best = best_message(row, words)
    if best is None:
        return Hit(row.pk, row.title, row.updated_at, "")
    return Hit(row.pk, row.title, row.updated_at, excerpt(best.text, words), str(best.uuid))


def words_of(query: str) -> list[str]:
    """What is searched for: parts of the query between spaces, each once."""
    plain = str(storable(query[: MOST_WORDS * LONGEST_WORD])).lower()
    return list(dict.fromkeys(word[:LONGEST_WORD] for word in plain.split()))[:MOST_WORDS]


def conversations_with(word: str, mine: QuerySet[Conversation]) -> set[UUID]:
    messages = Message.objects.said().filter(contains(word), conversation__in=mine.order_by())
    titled = mine.filter(title__icontains=word).order_by()
    found = messages.order_by().values_list("conversation", flat=True).distinct()
    return {*found, *titled.values_list("pk", flat=True)}


def contains(word: str) -> Q:
    """Messages with the word, by the index where that can tell."""
    return Q(pk__in=messages_with(word)) if is_indexed(word) else Q(text__icontains=word)


def best_message(conversation: Conversation, words: list[str]) -> Message | None:
    """The message with most of the words; None if only the title has any."""
    counted = [
        Case(When(contains(word), then=Value(len(word))), default=0, output_field=IntegerField())
        for word in words
    ]
    rows = conversation.messages.said().filter(reduce(or_, map(contains, words)))
    return rows.annotate(score=sum(counted, Value(0))).order_by("-score", "-pk").first()


def excerpt(text: str, words: list[str]) -> str:
    """The part around the first word that stands in the text, on one line."""
    lowered = text.lower()
    places = [place for word in words if (place := lowered.find(word)) >= 0]
    start = max(min(places, default=0) - EXCERPT_CHARACTERS // 3, 0)
    part = text[start : start + EXCERPT_CHARACTERS]
    before, after = start > 0, start + EXCERPT_CHARACTERS < len(text)
    return f"{'…' if before else ''}{' '.join(part.split())}{'…' if after else ''}"
