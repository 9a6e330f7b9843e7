"""Stores deliveries for subscriptions, in the transaction that changes a run's status."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.accounts.teams import teams_of
from apps.catalog.access import accessible_rows
from apps.catalog.models import Application, Role
from apps.live.listeners import RunNews
from apps.process_state import AgedCache
from apps.triggers.models import Delivery, Subscription
from apps.triggers.outgoing.attempts import enqueue_attempt

CACHE_SECONDS = 1.0
"""The cache lifetime of subscriptions in seconds. Changes to subscriptions and permissions take
effect within this time.
"""
EVERYTHING = "catalog.access_all_applications"


@dataclass(frozen=True, slots=True)
class SubscriptionFilter:
    """The events that a subscription receives."""

    subscription: int
    applications: frozenset[str] | None
    """The slugs of the subscription's applications, or None for all."""
    events: frozenset[str]

    def wants(self, news: RunNews) -> bool:
        if event_of(news) not in self.events:
            return False
        return self.applications is None or news.application in self.applications


_filters = AgedCache[str, tuple[SubscriptionFilter, ...]](1)


def note_runs(news: Sequence[RunNews]) -> None:
    """Store and enqueue a delivery for each subscription to these events."""
    matches = [
        (subscriber, one)
        for subscriber in cached_filters()
        for one in news
        if subscriber.wants(one)
    ]
    if not matches:
        return
    rows = [
        Delivery(
            subscription_id=subscriber.subscription,
            event=event_of(one),
            run=one.run,
            door=one.door,
            application=one.application[:255],
        )
        for subscriber, one in matches
    ]
    with transaction.atomic():
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)
        for row in rows:
            enqueue_attempt(row.uuid)


def event_of(news: RunNews) -> str:
    return f"run.{news.status}"


def cached_filters() -> tuple[SubscriptionFilter, ...]:
    kept = _filters.get("", CACHE_SECONDS)
    if kept is None:
        enabled = Subscription.objects.filter(is_enabled=True).select_related("owner", "saved_by")
        kept = tuple(read_filters(enabled))
        _filters.put("", kept)
    return kept


def read_filters(rows: Iterable[Subscription]) -> Iterable[SubscriptionFilter]:
    for row in rows:
        events = frozenset(map(str, row.events))
        among = None if row.application_id is None else [row.application_id]
        found = [edited_by(user, among) for user in row.people]
        limited = [slugs for slugs in found if slugs is not None]
        edited = frozenset.intersection(*limited) if limited else None
        yield SubscriptionFilter(row.pk, edited, events)


def edited_by(owner: Any, among: Collection[int] | None) -> frozenset[str] | None:
    """Return the slugs of the applications that the user can edit, personally or as a team member,
    or None if the user can edit all applications.

    `among` contains the IDs of the applications to consider; None means all.
    """
    if among is None and owner.has_perm(EVERYTHING):
        return None
    rows = Application.objects.all() if among is None else Application.objects.filter(pk__in=among)
    teams = [None, *teams_of(owner).values_list("pk", flat=True)]
    return frozenset(
        slug
        for team in teams
        for slug in accessible_rows(owner.pk, team, Role.EDITOR, rows).values_list(
            "slug", flat=True
        )
    )
