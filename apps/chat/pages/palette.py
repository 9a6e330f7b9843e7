"""Searches conversations, applications and pages for the command palette."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse, reverse_lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_safe

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.chat.file_views import with_json_errors
from apps.chat.visitors import visitor
from apps.conversations.access import own_lasting
from apps.conversations.keeping.search import begin_of, search_in
from apps.conversations.keeping.search_filters import SearchFilters, read_filters
from apps.conversations.models import Conversation

MOST_OF_A_KIND = 6
MOST_FILTERED = 20
LONGEST_QUERY = 200
LONGEST_DETAIL = 100
PAGES = (
    (gettext_lazy("Settings"), gettext_lazy("Appearance and behavior"), reverse_lazy("settings")),
    (
        gettext_lazy("All apps"),
        gettext_lazy("Start a conversation"),
        format_lazy("{}#apps", reverse_lazy("index")),
    ),
    (
        gettext_lazy("Connections"),
        gettext_lazy("Services that tools can use for you"),
        reverse_lazy("connections"),
    ),
    (
        gettext_lazy("Approvals"),
        gettext_lazy("Tool calls that need your approval"),
        reverse_lazy("approvals"),
    ),
)
OF_PEOPLE = (
    (
        gettext_lazy("Prompts"),
        gettext_lazy("Snippets that you insert with “/”"),
        reverse_lazy("prompts"),
    ),
    (gettext_lazy("Account"), gettext_lazy("Name, picture, sign-in"), reverse_lazy("account")),
    (
        gettext_lazy("Notes"),
        gettext_lazy("Notes that you and your agents write"),
        reverse_lazy("notes"),
    ),
    (gettext_lazy("Memory"), gettext_lazy("What apps remember about you"), reverse_lazy("memory")),
    (
        gettext_lazy("Scheduled"),
        gettext_lazy("Messages that are sent at set times"),
        reverse_lazy("schedules"),
    ),
    (
        gettext_lazy("Data"),
        gettext_lazy("Import, export or delete conversations"),
        reverse_lazy("data"),
    ),
)


@require_safe
@with_json_errors
def find(request: HttpRequest) -> HttpResponseBase:
    """Return the search results as JSON, such as `{"groups": [{"title": "Apps", "found": [{"title",
    "detail", "url"}]}]}`.

    If the query contains filters, as in the sidebar's search, only conversations are searched.
    """
    caller = visitor(request)
    words = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    filters = read_filters(request.GET.dict(), request.GET.getlist("has"))
    groups = [(gettext("Conversations"), conversations(caller, words, filters))]
    if not filters:
        groups += [
            (gettext("Apps"), applications(caller, words)),
            (gettext("Pages"), pages(caller, words)),
        ]
    shown = [{"title": title, "found": found} for title, found in groups if found]
    return JsonResponse({"groups": shown}, headers={"Cache-Control": "no-store"})


def conversations(caller: Caller, words: str, filters: SearchFilters) -> list[dict[str, Any]]:
    """Return the conversations that contain the words and match the filters, or the newest
    conversations if both are empty.
    """
    mine = own_lasting(caller).select_related("application")
    if not words and not filters:
        return [of_conversation(row, "") for row in mine[:MOST_OF_A_KIND]]
    most = MOST_FILTERED if filters else MOST_OF_A_KIND
    hits = search_in(own_lasting(caller), words, most, filters)
    rows = mine.in_bulk([hit.id for hit in hits])
    return [of_conversation(rows[hit.id], hit.excerpt) for hit in hits if hit.id in rows]


def of_conversation(row: Conversation, excerpt: str) -> dict[str, Any]:
    detail = shorten(excerpt) or row.application_title
    address = reverse("conversation", args=[row.application_slug, row.pk])
    return found_entry(row.title or gettext("Untitled"), detail, address)


def shorten(detail: str) -> str:
    if len(detail) <= LONGEST_DETAIL:
        return detail
    return f"{begin_of(detail, LONGEST_DETAIL)}…"


def applications(caller: Caller, words: str) -> list[dict[str, Any]]:
    rows = usable(caller).filter(title__icontains=words).only("slug", "title", "description")
    return [
        found_entry(row.title, shorten(row.description), reverse("chat", args=[row.slug]))
        for row in rows[:MOST_OF_A_KIND]
    ]


def pages(caller: Caller, words: str) -> list[dict[str, Any]]:
    offered = PAGES if caller.user_id is None else (*PAGES, *OF_PEOPLE)
    wanted = words.lower()
    return [
        found_entry(str(title), str(detail), str(url))
        for title, detail, url in offered
        if wanted in f"{title} {detail}".lower()
    ]


def found_entry(title: str, detail: str, url: str) -> dict[str, Any]:
    return {"title": title, "detail": detail, "url": url}
