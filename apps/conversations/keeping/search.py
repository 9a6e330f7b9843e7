"""Searches the titles and messages of a user's conversations."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.conversations.keeping.search_filters import ANY, SearchFilters
from apps.conversations.models import Conversation, Message
from apps.conversations.search_index import (
    count_messages_with,
    has_word,
    is_indexed,
    messages_with,
)
from apps.live.events import storable_value
from apps.plain_text import plain_text

MOST_WORDS = 10
LONGEST_WORD = 60
"""Words in a query are truncated to this length. PostgreSQL rejects words of more than 2 KB."""
MOST_MESSAGES = 20_000
"""The maximum number of messages that a search reads for one word, newest first."""
MOST_FOUND = 10_000
"""A word is frequent if more than this many messages in the whole installation contain it. A search
for a frequent word does not use the index, because the database would read all of these messages.
"""
MOST_CONVERSATIONS = 1_000
"""Up to this many of the user's newest conversations are searched for words that cannot use the
index: frequent words, and words that the index cannot find.
"""
EXCERPT_CHARACTERS = 300
BEFORE_CHARACTERS = 30
"""The maximum number of characters before the match in an excerpt, so that the match is visible in
narrow lists.
"""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A conversation that matches a search."""

    id: UUID
    title: str
    updated_at: datetime
    excerpt: str
    """The part of the message around the match, or "" if only the title matches."""
    message: str = ""
    """The ID of the message with the most matches, or "" if only the title matches."""


def search_in(
    mine: QuerySet[Conversation], query: str, most: int, filters: SearchFilters = ANY
) -> list[SearchHit]:
    """Return up to `most` of the conversations `mine` that match the query and the filters, best
    first.

    The score is the total length of the matched words. Among equal scores, newer conversations come
    first. Conversations with less than half of the best score are omitted. If the query contains no
    words, return the newest conversations that match the filters.
    """
    mine, words = filters.narrow(mine, timezone.now()), words_of(query)
    if not words:
        return newest_with_content(mine, most, filters) if filters else []
    matches = find_matches(mine, words)
    if filters.has:
        kept = set(filters.with_content(mine.filter(pk__in=matches)).values_list("pk", flat=True))
        matches = {pk: match for pk, match in matches.items() if pk in kept}
    enough = max((one.score for one in matches.values()), default=0) / 2
    good = [key for key, one in matches.items() if one.score >= enough]
    newest = mine.filter(pk__in=good).order_by("-updated_at", "-pk").values_list("pk", flat=True)
    shown = sorted(newest, key=lambda pk: matches[pk].score, reverse=True)[:most]
    rows = mine.only("title", "updated_at").in_bulk(shown)
    best = {pk: matches[pk].best_message for pk in shown}
    messages = Message.objects.in_bulk([pk for pk in best.values() if pk is not None])
    return [hit_of(rows[pk], messages.get(best[pk] or 0), words) for pk in shown if pk in rows]


def newest_with_content(
    mine: QuerySet[Conversation], most: int, filters: SearchFilters
) -> list[SearchHit]:
    among = Conversation.objects.filter(pk__in=newest_of(mine).values("pk"))
    rows = filters.with_content(among).order_by("-updated_at", "-pk").only("title", "updated_at")
    return [hit_of(row, None, []) for row in rows[:most]]


def hit_of(row: Conversation, best: Message | None, words: list[str]) -> SearchHit:
    if best is None:
        return SearchHit(row.pk, row.title, row.updated_at, "")
    return SearchHit(
        row.pk, row.title, row.updated_at, plain_excerpt(best.text, words), str(best.uuid)
    )


def words_of(query: str) -> list[str]:
    """Return the distinct words of the query, in lowercase and truncated."""
    plain = str(storable_value(query[: MOST_WORDS * LONGEST_WORD])).lower()
    return list(dict.fromkeys(word[:LONGEST_WORD] for word in plain.split()))[:MOST_WORDS]


@dataclass(slots=True)
class Match:
    """The matches of the query in one conversation."""

    score: int = 0
    """The total length of the matching words. Each word counts once."""
    messages: Counter[int] = field(default_factory=Counter)
    """The total length of the matching words in each message, by primary key."""

    @property
    def best_message(self) -> int | None:
        """Return the primary key of the message with the highest score. Among equal scores, return
        the newest message. Return None if only the title matches.
        """
        return max(self.messages, key=lambda pk: (self.messages[pk], pk), default=None)


def find_matches(mine: QuerySet[Conversation], words: list[str]) -> dict[UUID, Match]:
    """Return the matches in each conversation, by the conversation's ID. Runs up to three database
    queries per word.
    """
    found: defaultdict[UUID, Match] = defaultdict(Match)
    for word in words:
        messages = messages_of(mine, word)
        titled = newest_of(mine.filter(title__icontains=word)).values_list("pk", flat=True)
        for conversation, message in messages:
            found[conversation].messages[message] += len(word)
        for conversation in {*titled, *(one for one, _ in messages)}:
            found[conversation].score += len(word)
    return found


def messages_of(mine: QuerySet[Conversation], word: str) -> list[tuple[UUID, int]]:
    """Return the newest messages that contain the word, as pairs of a conversation's ID and a
    message's primary key.
    """
    if not is_indexed(word):
        found, among = Q(text__icontains=word), newest_of(mine)
    elif count_messages_with(word, MOST_FOUND + 1) > MOST_FOUND:
        found, among = has_word(word), newest_of(mine)
    else:
        found, among = Q(pk__in=messages_with(word)), mine.order_by()
    rows = Message.objects.without_summaries().filter(found, conversation__in=among.values("pk"))
    return list(rows.order_by("-pk").values_list("conversation", "pk")[:MOST_MESSAGES])


def newest_of(mine: QuerySet[Conversation]) -> QuerySet[Conversation]:
    return mine.order_by("-updated_at", "-pk")[:MOST_CONVERSATIONS]


def plain_excerpt(text: str, words: list[str]) -> str:
    """Return an excerpt of a Markdown text without its markup. If the words occur only in the
    markup, such as in the URL of a link, return the excerpt with its markup.
    """
    match = match_index(text, words)
    begin, end = max(match - 10 * BEFORE_CHARACTERS, 0), match + 2 * EXCERPT_CHARACTERS
    plain = plain_text(text[begin:end])
    if not any(word in plain.lower() for word in words):
        return excerpt(text, words)
    found = excerpt(plain, words)
    is_cut = begin > 0 and not found.startswith("…")
    has_more = end < len(text) and not found.endswith("…")
    return f"{'…' if is_cut else ''}{found}{'…' if has_more else ''}"


def excerpt(text: str, words: list[str], most: int = EXCERPT_CHARACTERS) -> str:
    """Return up to `most` characters around the longest matching word, on one line and without
    partial words at the ends.
    """
    start = match_index(text, words)
    # More is read than shown, because white space is collapsed.
    before = lined_up(text[max(start - 10 * BEFORE_CHARACTERS, 0) : start])
    begin = before if len(before) <= BEFORE_CHARACTERS else end_of(before, BEFORE_CHARACTERS)
    after = lined_up(text[start : start + 10 * most])
    end = after if len(after) <= most - len(begin) else begin_of(after, most - len(begin))
    is_cut = start > 10 * BEFORE_CHARACTERS or begin != before
    has_more = start + 10 * most < len(text) or end != after
    return f"{'…' if is_cut else ''}{f'{begin}{end}'.strip()}{'…' if has_more else ''}"


def match_index(text: str, words: list[str]) -> int:
    """Return the index of the longest word that occurs in the text, or 0 if none does."""
    for word in sorted(words, key=len, reverse=True):
        if found := re.search(re.escape(word), text, re.IGNORECASE):
            return found.start()
    return 0


def lined_up(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def end_of(text: str, most: int) -> str:
    """Return up to `most` characters at the end of the text, without a partial word."""
    part = text[-most:]
    _, blank, whole = part.partition(" ")
    return whole if blank and whole and text[-most - 1] != " " else part.lstrip()


def begin_of(text: str, most: int) -> str:
    """Return up to `most` characters at the beginning of the text, without a partial word."""
    part = text[:most]
    whole, blank, _ = part.rpartition(" ")
    return whole if blank and whole and text[most] != " " else part.rstrip()
