"""Filters a search in a user's conversations by application, age, tag, files and code."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, QuerySet

from apps.conversations.access import under
from apps.conversations.conversation_tags import LONGEST_TAG, ConversationTag
from apps.conversations.models import Conversation, Message
from apps.errors import Refused

DAYS = (7, 30, 365)
FILES, CODE = "files", "code"
FENCE = "```"
MOST_APPLICATIONS = 100
LONGEST_SLUG = 50


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """The filters for a search. Empty values match everything."""

    application: str = ""
    """The application's slug."""
    days: int = 0
    """The maximum age in days."""
    has: frozenset[str] = frozenset()
    """The required content: `files`, `code` or both."""
    tag: str = ""

    def __bool__(self) -> bool:
        return self != ANY

    def narrow(self, mine: QuerySet[Conversation], now: datetime) -> QuerySet[Conversation]:
        """Return the conversations that match the filters for application, age and tag."""
        found = mine.filter(under(self.application)) if self.application else mine
        if self.days:
            found = found.filter(updated_at__gte=now - timedelta(days=self.days))
        if self.tag:
            tagged = ConversationTag.objects.filter(conversation=OuterRef("pk"), name=self.tag)
            found = found.filter(Exists(tagged))
        return found

    def with_content(self, mine: QuerySet[Conversation]) -> QuerySet[Conversation]:
        """Return the conversations with files or code, as `has` requires. The database reads all
        their messages, so `mine` must be small.
        """
        said = Message.objects.without_summaries().filter(conversation=OuterRef("pk"))
        if FILES in self.has:
            mine = mine.filter(Exists(said.exclude(attachments=[])))
        if CODE in self.has:
            mine = mine.filter(Exists(said.filter(text__contains=FENCE)))
        return mine


ANY = SearchFilters()


def read_filters(query: Mapping[str, str], has: Collection[str]) -> SearchFilters:
    """Parse the query parameters `app`, `days` and `tag`, and the values of `has`. Raises `Refused`
    if one is invalid.
    """
    days = query.get("days", "")
    if days not in ("", *map(str, DAYS)):
        raise Refused("bad_request", "days: use 7, 30 or 365.")
    if not {*has} <= {FILES, CODE}:
        raise Refused("bad_request", "has: use files or code.")
    return SearchFilters(
        query.get("app", "")[:LONGEST_SLUG],
        int(days or 0),
        frozenset(has),
        query.get("tag", "")[:LONGEST_TAG],
    )


def searched_applications(mine: QuerySet[Conversation]) -> list[dict[str, str]]:
    """Return the slugs and titles of the conversations' applications, including deleted
    applications, sorted by title.
    """
    names = ("application__slug", "application__title", "former_slug", "former_title")
    rows = mine.order_by().values_list(*names).distinct()[:MOST_APPLICATIONS]
    found = {slug or former: title or last for slug, title, former, last in rows}
    named = [{"slug": slug, "title": title} for slug, title in found.items() if slug]
    return sorted(named, key=lambda one: (one["title"].lower(), one["slug"]))
