"""What the palette of the page finds: conversations, applications and pages."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_safe

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.chat.access import own
from apps.chat.models import Conversation
from apps.chat.search import begin_of, search
from apps.chat.visitors import visitor

MOST_OF_A_KIND = 6
LONGEST_QUERY = 200
LONGEST_DETAIL = 100
PAGES = (
    (gettext_lazy("Settings"), gettext_lazy("How the pages look and work"), "settings"),
    (gettext_lazy("All applications"), gettext_lazy("Where a conversation begins"), "index"),
    (
        gettext_lazy("Connections"),
        gettext_lazy("Services that tools may use for you"),
        "connections",
    ),
    (gettext_lazy("Approvals"), gettext_lazy("Tools that need not ask you again"), "approvals"),
)
OF_PEOPLE = (
    (gettext_lazy("Prompts"), gettext_lazy("Texts that you insert with “/”"), "prompts"),
    (gettext_lazy("Your account"), gettext_lazy("Name, picture, signing in"), "account"),
    (gettext_lazy("Notes"), gettext_lazy("What you and your agents write down"), "notes"),
    (gettext_lazy("Memory"), gettext_lazy("What is remembered about you"), "memory"),
    (gettext_lazy("Scheduled"), gettext_lazy("What runs by itself"), "schedules"),
)


@require_safe
def find(request: HttpRequest) -> JsonResponse:
    """`{"groups": [{"title": "Applications", "found": [{"title", "detail", "url"}]}]}`"""
    caller = visitor(request)
    words = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    groups = [
        {"title": title, "found": found}
        for title, found in (
            (gettext("Conversations"), conversations(caller, words)),
            (gettext("Applications"), applications(caller, words)),
            (gettext("Pages"), pages(caller, words)),
        )
        if found
    ]
    return JsonResponse({"groups": groups}, headers={"Cache-Control": "no-store"})


def conversations(caller: Caller, words: str) -> list[dict[str, Any]]:
    """Those with the words; without words the newest."""
    mine = own(caller).select_related("application")
    if not words:
        return [of_conversation(row, "") for row in mine[:MOST_OF_A_KIND]]
    hits = search(own(caller), words, MOST_OF_A_KIND)
    rows = mine.in_bulk([hit.id for hit in hits])
    return [of_conversation(rows[hit.id], hit.excerpt) for hit in hits if hit.id in rows]


def of_conversation(row: Conversation, excerpt: str) -> dict[str, Any]:
    detail = shortened(excerpt) or row.application_title
    address = reverse("conversation", args=[row.application_slug, row.pk])
    return found(row.title or gettext("Untitled"), detail, address)


def shortened(excerpt: str) -> str:
    if len(excerpt) <= LONGEST_DETAIL:
        return excerpt
    return f"{begin_of(excerpt, LONGEST_DETAIL)}…"


def applications(caller: Caller, words: str) -> list[dict[str, Any]]:
    rows = usable(caller).filter(title__icontains=words).only("slug", "title", "description")
    return [
        found(row.title, row.description[:LONGEST_DETAIL], reverse("chat", args=[row.slug]))
        for row in rows[:MOST_OF_A_KIND]
    ]


def pages(caller: Caller, words: str) -> list[dict[str, Any]]:
    offered = PAGES if caller.user_id is None else (*PAGES, *OF_PEOPLE)
    wanted = words.lower()
    return [
        found(str(title), str(detail), reverse(name))
        for title, detail, name in offered
        if wanted in f"{title} {detail}".lower()
    ]


def found(title: str, detail: str, url: str) -> dict[str, Any]:
    return {"title": title, "detail": detail, "url": url}
