"""What the palette of the page finds: conversations, applications and pages."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.chat.access import own
from apps.chat.models import Conversation
from apps.chat.search import search
from apps.chat.visitors import visitor

MOST_OF_A_KIND = 6
LONGEST_QUERY = 200
LONGEST_DETAIL = 100
PAGES = (
    ("Settings", "How the pages look and work", "settings"),
    ("All applications", "Where a conversation begins", "index"),
    ("Connections", "Services that tools may use for you", "connections"),
    ("Approvals", "Tools that need not ask you again", "approvals"),
)
OF_PEOPLE = (
    ("Prompts", "Texts that you insert with “/”", "prompts"),
    ("Your account", "Name, picture, signing in", "account"),
    ("Notes", "What you and your agents write down", "notes"),
    ("Memory", "What is remembered about you", "memory"),
    ("Scheduled", "What runs by itself", "schedules"),
)


@require_safe
def find(request: HttpRequest) -> JsonResponse:
    """`{"groups": [{"title": "Applications", "found": [{"title", "detail", "url"}]}]}`"""
    caller = visitor(request)
    words = request.GET.get("q", "").strip()[:LONGEST_QUERY].replace("\0", "")
    groups = [
        {"title": title, "found": found}
        for title, found in (
            ("Conversations", conversations(caller, words)),
            ("Applications", applications(caller, words)),
            ("Pages", pages(caller, words)),
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
    application = row.application
    slug = row.former_slug if application is None else application.slug
    name = row.former_title if application is None else application.title
    detail = excerpt[:LONGEST_DETAIL] or name
    return found(row.title or "Untitled", detail, reverse("conversation", args=[slug, row.pk]))


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
        found(title, detail, reverse(name))
        for title, detail, name in offered
        if wanted in f"{title} {detail}".lower()
    ]


def found(title: str, detail: str, url: str) -> dict[str, Any]:
    return {"title": title, "detail": detail, "url": url}
