"""Serves the demo's support desk API: invented orders and help articles, and tickets that are not
stored.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

NOTE = "Demo data: made up, and the same every time."
NOT_STORED = "This is a demo: the ticket is not stored."
LONGEST_BODY = 10_000
LONGEST_WORDS = 500
FRESH_SECONDS = 300
ORDERS: Mapping[int, Mapping[str, str]] = {
    1001: {"item": "Trail shoes, size 42", "state": "delivered", "date": "2026-03-02"},
    1002: {"item": "Rain jacket, size M", "state": "on its way", "date": "2026-03-09"},
    1003: {"item": "Camping stove", "state": "being packed", "date": "2026-03-12"},
    1004: {"item": "Two-person tent", "state": "cancelled", "date": "2026-02-20"},
}
ARTICLES: Mapping[str, str] = {
    "Delivery": "We deliver within five working days. Delivery is free for orders above 50 euros.",
    "Returns": "You can return an item within 30 days, unused and in its packaging. "
    "The refund arrives within a week.",
    "Warranty": "All items have a warranty of two years. We repair, replace or refund the item.",
    "Payment": "You can pay by card, by bank transfer or by invoice within 14 days.",
}

_word = re.compile(r"[a-z]{4,}")


@require_safe
def order(request: HttpRequest, number: int) -> HttpResponse:
    found = ORDERS.get(number)
    if found is None:
        known = ", ".join(map(str, ORDERS))
        return refusal(404, f"There is no order {number}. The demo's orders are {known}.")
    return fresh({"order": number, **found, "note": NOTE})


@require_safe
def articles(request: HttpRequest) -> HttpResponse:
    """Return the articles that share a word with the query parameter `question`, or all articles if
    none does.
    """
    asked = words_of(request.GET.get("question", "")[:LONGEST_WORDS])
    found = {title: text for title, text in ARTICLES.items() if asked & words_of(f"{title} {text}")}
    return fresh({**(found or ARTICLES), "note": NOTE})


@csrf_exempt  # A ticket is not stored, and no cookie is read.
@require_POST
def ticket(request: HttpRequest) -> HttpResponse:
    """Respond as if a ticket had been created. Nothing is stored."""
    try:
        body = json.loads(request.read(LONGEST_BODY))
    except (ValueError, RecursionError):
        body = None
    summary = body.get("summary") if isinstance(body, dict) else None
    if not isinstance(summary, str) or not summary.strip():
        return refusal(400, "summary: required; describe the problem.")
    answer = {"ticket": 7, "summary": summary.strip()[:LONGEST_WORDS], "note": NOT_STORED}
    return JsonResponse(answer, status=201, headers={"Cache-Control": "no-store"})


def words_of(text: str) -> set[str]:
    """Return the words of four or more letters, without the plural "s"."""
    return {word.removesuffix("s") for word in _word.findall(text.casefold())}


def fresh(answer: Mapping[str, Any]) -> HttpResponse:
    return JsonResponse(answer, headers={"Cache-Control": f"public, max-age={FRESH_SECONDS}"})


def refusal(status: int, text: str) -> HttpResponse:
    return JsonResponse({"error": text}, status=status, headers={"Cache-Control": "no-store"})


urlpatterns = [
    path("orders/<int:number>", order, name="demo-order"),
    path("articles", articles, name="demo-articles"),
    path("tickets", ticket, name="demo-ticket"),
]
