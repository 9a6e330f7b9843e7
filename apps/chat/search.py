"""The search in a person's conversations."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.chat.models import Conversation, Message
from apps.chat.search_index import is_indexed, messages_with
from apps.live.events import storable

MOST_WORDS = 10
LONGEST_WORD = 60
"""Characters. PostgreSQL refuses words of more than 2 KB."""
MOST_MESSAGES = 20_000
"""Messages that are read for one word, the newest of a person's: a frequent word is in very many."""
EXCERPT_CHARACTERS = 300
BEFORE_CHARACTERS = 30
"""An excerpt has at most this many characters in front of the match, so that narrow lists show it."""


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
    matches = find_matches(mine, words)
    enough = max((one.score for one in matches.values()), default=0) / 2
    good = [key for key, one in matches.items() if one.score >= enough]
    newest = mine.filter(pk__in=good).order_by("-updated_at", "-pk").values_list("pk", flat=True)
    shown = sorted(newest, key=lambda pk: matches[pk].score, reverse=True)[:most]
    rows = mine.only("title", "updated_at").in_bulk(shown)
    best = {pk: matches[pk].best_message for pk in shown}
    messages = Message.objects.in_bulk([pk for pk in best.values() if pk is not None])
    return [hit_of(rows[pk], messages.get(best[pk] or 0), words) for pk in shown if pk in rows]


def hit_of(row: Conversation, best: Message | None, words: list[str]) -> Hit:
    if best is None:
        return Hit(row.pk, row.title, row.updated_at, "")
    return Hit(row.pk, row.title, row.updated_at, excerpt(best.text, words), str(best.uuid))


def words_of(query: str) -> list[str]:
    """What is searched for: parts of the query between spaces, each once."""
    plain = str(storable(query[: MOST_WORDS * LONGEST_WORD])).lower()
    return list(dict.fromkeys(word[:LONGEST_WORD] for word in plain.split()))[:MOST_WORDS]


@dataclass(slots=True)
class Match:
    """What of a query a conversation has, in its title or in messages."""

    score: int = 0
    """Letters of the words, each word counted once."""
    messages: Counter[int] = field(default_factory=Counter)
    """The same by message."""

    @property
    def best_message(self) -> int | None:
        """The newest of the messages with most of the words; None if only the title has any."""
        return max(self.messages, key=lambda pk: (self.messages[pk], pk), default=None)


def find_matches(mine: QuerySet[Conversation], words: list[str]) -> dict[UUID, Match]:
    """The conversations with any of the words. Each word takes one query of messages and one of titles."""
    found: defaultdict[UUID, Match] = defaultdict(Match)
    for word in words:
        messages = messages_of(mine, word)
        titled = mine.filter(title__icontains=word).order_by().values_list("pk", flat=True)
        for conversation, message in messages:
            found[conversation].messages[message] += len(word)
        for conversation in {*titled, *(one for one, _ in messages)}:
            found[conversation].score += len(word)
    return found


def messages_of(mine: QuerySet[Conversation], word: str) -> list[tuple[UUID, int]]:
    """The newest messages with the word, by conversation and key."""
    rows = Message.objects.said().filter(contains(word), conversation__in=mine.order_by())
    return list(rows.order_by("-pk").values_list("conversation", "pk")[:MOST_MESSAGES])


def contains(word: str) -> Q:
    """Messages with the word, by the index where that can tell."""
    return Q(pk__in=messages_with(word)) if is_indexed(word) else Q(text__icontains=word)


def excerpt(text: str, words: list[str], most: int = EXCERPT_CHARACTERS) -> str:
    """The part around the longest of the words that the text has, on one line.

    It begins and ends with whole words, where the script has spaces.
    """
    place = place_of(text, words)
    # Runs of white space become one blank, so more is read than is shown.
    before = lined_up(text[max(place - 10 * BEFORE_CHARACTERS, 0) : place])
    begin = before if len(before) <= BEFORE_CHARACTERS else end_of(before, BEFORE_CHARACTERS)
    after = lined_up(text[place : place + 10 * most])
    end = after if len(after) <= most - len(begin) else begin_of(after, most - len(begin))
    is_cut = place > 10 * BEFORE_CHARACTERS or begin != before
    has_more = place + 10 * most < len(text) or end != after
    return f"{'…' if is_cut else ''}{f'{begin}{end}'.strip()}{'…' if has_more else ''}"


def place_of(text: str, words: list[str]) -> int:
    """Where the longest of the words that the text has begins, 0 if there is none."""
    for word in sorted(words, key=len, reverse=True):
        if found := re.search(re.escape(word), text, re.IGNORECASE):
            return found.start()
    return 0


def lined_up(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def end_of(text: str, most: int) -> str:
    """At most so many characters at the end, without the rest of a word that is cut."""
    part = text[-most:]
    _, blank, whole = part.partition(" ")
    return whole if blank and whole and text[-most - 1] != " " else part.lstrip()


def begin_of(text: str, most: int) -> str:
    """At most so many characters at the beginning, without the rest of a word that is cut."""
    part = text[:most]
    whole, blank, _ = part.rpartition(" ")
    return whole if blank and whole and text[most] != " " else part.rstrip()
