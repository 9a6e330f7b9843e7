"""What subscriptions are to be told: rows that are written with the ending of a run."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.teams import teams_of
from apps.aged_cache import AgedCache
from apps.catalog.access import rows_of
from apps.catalog.models import Application, Role
from apps.chat.models import Message
from apps.live.listeners import RunNews
from apps.live.models import Run
from apps.triggers.models import Delivery, Subscription

KNOWN_SECONDS = 1.0
"""A subscription is known to all processes, and one without rights to none, after so long."""
LONGEST_TEXT = 100_000
EVERYTHING = "catalog.access_all_applications"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a subscription is told of: runs of these applications, None for all."""

    subscription: int
    applications: frozenset[str] | None
    events: frozenset[str]

    def wants(self, news: RunNews) -> bool:
        if event_of(news) not in self.events:
            return False
        return self.applications is None or news.application in self.applications


_wishes = AgedCache[str, tuple[Wish, ...]](1)


def forget() -> None:
    """For tests, which roll rows back."""
    _wishes.values.clear()


def note_runs(news: Sequence[RunNews]) -> None:
    """Write a delivery for each event that a subscription wants."""
    wanted = [(wish, one) for wish in known_wishes() for one in news if wish.wants(one)]
    if not wanted:
        return
    rows = [
        Delivery(
            subscription_id=wish.subscription,
            event=event_of(one),
            run=one.run,
            door=one.door,
            application=one.application[:255],
        )
        for wish, one in wanted
    ]
    with transaction.atomic():
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def event_of(news: RunNews) -> str:
    return f"run.{news.status}"


def known_wishes() -> tuple[Wish, ...]:
    kept = _wishes.get("", KNOWN_SECONDS)
    if kept is None:
        kept = tuple(read_wishes(Subscription.objects.filter(is_enabled=True)))
        _wishes.put("", kept)
    return kept


def read_wishes(rows: Iterable[Subscription]) -> Iterable[Wish]:
    for row in rows:
        events = frozenset(map(str, row.events))
        edited = edited_by(row.owner, None if row.application_id is None else [row.application_id])
        yield Wish(row.pk, edited, events)


def edited_by(owner: Any, among: Collection[int] | None) -> frozenset[str] | None:
    """The slugs of applications that somebody edits, also in a team; None for whatever there is."""
    if among is None and owner.has_perm(EVERYTHING):
        return None
    rows = Application.objects.all() if among is None else Application.objects.filter(pk__in=among)
    places = [None, *teams_of(owner).values_list("pk", flat=True)]
    return frozenset(
        slug
        for place in places
        for slug in rows_of(owner.pk, place, Role.EDITOR, rows).values_list("slug", flat=True)
    )


def payload(delivery: Delivery, now: datetime) -> str:
    """The JSON that is sent: ids and states, and the text where the subscription says so."""
    run = Run.objects.filter(pk=delivery.run).first()
    data: dict[str, Any] = {
        "run": str(delivery.run),
        "application": delivery.application,
        "door": delivery.door,
        "status": delivery.event.removeprefix("run."),
    }
    if run is not None:
        data["conversation"] = str(run.stream)
    if delivery.subscription.has_text and delivery.event != "run.waiting":
        rows = Message.objects.filter(run=delivery.run, role=Message.Role.ASSISTANT)
        answer = rows.select_related("conversation").first()
        is_told = answer is not None and answer.conversation.temporary_until is None
        data["text"] = answer.text[:LONGEST_TEXT] if answer is not None and is_told else None
    told = {"type": delivery.event, "timestamp": delivery.created_at.isoformat(), "data": data}
    return json.dumps(told, ensure_ascii=False)
