"""An attempt to deliver an event: claimed by one process, signed, and tried again later if it fails."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, QuerySet
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Signer

from apps.errors import EgressRefused
from apps.triggers.deliveries import payload
from apps.triggers.models import LONGEST_ERROR, Delivery, Subscription
from apps.triggers.webhook_secrets import signing_secrets
from apps.workspace.egress.clients import HTTPError, InvalidURL, Timeout, find_client
from apps.workspace.egress.guard import Trust

PAUSES = (30.0, 120.0, 600.0, 2700.0)
"""Seconds before the next attempt, each with a fifth more or less; after the last one none follows."""
SPREAD = 0.2
LEASE = timedelta(seconds=60)
"""More than an attempt takes. Whoever has claimed one and is gone is not waited for any longer."""
ANSWER_SECONDS = 15.0
GONE = 410
WANTS_NONE = "The receiver answered 410: it wants to be told nothing more."


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is None if there was no answer; `error` is "" for a delivery that was taken."""

    status: int | None
    error: str = ""


def claim(most: int) -> list[Delivery]:
    """Deliveries that are due, each of which no other process attempts now."""
    now = timezone.now()
    due = waiting().filter(due_at__lte=now, subscription__is_enabled=True)
    rows = due.select_related("subscription").order_by("due_at", "pk")[:most]
    return [row for row in rows if hold(row, now)]


def waiting() -> QuerySet[Delivery]:
    return Delivery.objects.filter(status=Delivery.Status.DUE)


def hold(row: Delivery, now: datetime) -> bool:
    """False when another process was quicker."""
    mine = waiting().filter(pk=row.pk, attempts=row.attempts, due_at=row.due_at)
    row.attempts += 1
    return bool(mine.update(attempts=F("attempts") + 1, due_at=now + LEASE))


def signed_request(row: Delivery) -> tuple[bytes, dict[str, str]]:
    """The body and the headers; the id stays the same in each attempt."""
    now = timezone.now()
    body = payload(row, now)
    secrets = signing_secrets(row.subscription, now)
    signatures = [Signer(secret).sign(str(row.uuid), now, body) for secret in secrets]
    headers = {
        "content-type": "application/json",
        "webhook-id": str(row.uuid),
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
    return body.encode(), headers


async def send(url: str, body: bytes, headers: dict[str, str]) -> Answer:
    """The answer's body is not read: it is of no use, and of any size."""
    client, patience = find_client(Trust.OPERATOR), Timeout(ANSWER_SECONDS)
    try:
        asked = client.stream("POST", url, content=body, headers=headers, timeout=patience)
        async with asked as answer:
            status = answer.status_code
    except (EgressRefused, HTTPError, InvalidURL, OSError) as error:
        return Answer(None, f"{error}"[:LONGEST_ERROR] or type(error).__name__)
    return Answer(status, "" if 200 <= status < 300 else f"The receiver answered {status}.")


def settle(row: Delivery, answer: Answer) -> None:
    """Write down what came of an attempt."""
    now = timezone.now()
    row.response_status, row.error = answer.status, answer.error
    if not answer.error:
        row.status, row.sent_at = Delivery.Status.SENT, now
    elif answer.status == GONE or row.attempts > len(PAUSES):
        row.status = Delivery.Status.DEAD
    else:
        pause = PAUSES[row.attempts - 1]
        spread = random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 - no secret
        row.due_at = now + timedelta(seconds=pause * spread)
    row.save(update_fields=["response_status", "error", "status", "sent_at", "due_at"])
    if answer.status == GONE:
        disable(row.subscription)


def disable(subscription: Subscription) -> None:
    found = Subscription.objects.filter(pk=subscription.pk, is_enabled=True).first()
    if found is not None:
        found.is_enabled, found.problem = False, WANTS_NONE
        found.save(update_fields=["is_enabled", "problem"])


def retry(rows: Iterable[Delivery]) -> int:
    """Send what was given up once more, with all its attempts; how many."""
    dead = Delivery.objects.filter(pk__in=[row.pk for row in rows], status=Delivery.Status.DEAD)
    return dead.update(status=Delivery.Status.DUE, attempts=0, due_at=timezone.now())
