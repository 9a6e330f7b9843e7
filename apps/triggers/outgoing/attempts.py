"""Sends events to subscribers. Each job makes one attempt, and enqueues the next one if it fails."""

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from channels.db import database_sync_to_async
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Signer

from apps.conversations.models import Message
from apps.errors import EgressRefused
from apps.live.models import Run
from apps.live.sent_request_rows import READ_CONTENTS
from apps.tasks.task import task
from apps.triggers.models import LONGEST_ERROR, Delivery, Subscription
from apps.triggers.webhook_secrets import signing_secrets
from apps.workspace.egress.clients import HTTPError, InvalidURL, Timeout, find_client
from apps.workspace.egress.guard import Trust
from apps.workspace.local import read_only

PAUSES = (30.0, 120.0, 600.0, 2700.0)
"""The pauses between attempts in seconds, before jitter of up to 20%. One more attempt follows the
last pause.
"""
SPREAD = 0.2
LEASE = timedelta(seconds=60)
"""An attempt reserves its delivery for this long. If its process dies, another process then retries
the delivery.
"""
OVERDUE = timedelta(minutes=10)
OVERDUE_AT_ONCE = 1_000
WHILE_READ_ONLY = timedelta(seconds=60)
"""In read-only mode, a delivery is retried after this time."""
ANSWER_SECONDS = 15.0
GONE = 410
WANTS_NONE = "The receiver returned status 410: it no longer wants events."
LONGEST_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class DeliveryResponse:
    status: int | None
    """The HTTP status, or None if the subscriber did not respond."""
    error: str = ""
    """The reason for the failure, or "" if the subscriber accepted the event."""


def reserve(uuid: str) -> Delivery | None:
    """Reserve the delivery with this ID for an attempt, and return it.

    Return None if it cannot be reserved. In this case, enqueue a later attempt, unless the delivery
    is finished or its subscription is disabled.
    """
    now = timezone.now()
    row = waiting().filter(uuid=uuid).select_related("subscription").first()
    if row is None or not row.subscription.is_enabled:
        return None
    if row.due_at <= now and claim(row, now):
        return row
    enqueue_attempt(uuid, row.due_at)
    return None


def waiting() -> QuerySet[Delivery]:
    return Delivery.objects.filter(status=Delivery.Status.DUE)


def claim(row: Delivery, now: datetime) -> bool:
    """Reserve a delivery for this process. Return False if another process has reserved it first."""
    mine = waiting().filter(pk=row.pk, attempts=row.attempts, due_at=row.due_at)
    row.attempts += 1
    row.due_at = now + LEASE
    return bool(mine.update(attempts=row.attempts, due_at=row.due_at))


def enqueue_attempt(uuid: object, at: datetime | None = None) -> None:
    deliver.using(run_after=at).enqueue(str(uuid))


@task("triggers.deliver", title="Outgoing webhooks", retries=5)
async def deliver(uuid: str) -> None:
    """Make one attempt to send the delivery with this ID. Enqueue the next attempt if it fails."""
    if await read_only.is_on_async():
        await database_sync_to_async(enqueue_attempt)(uuid, timezone.now() + WHILE_READ_ONLY)
        return
    if (row := await database_sync_to_async(reserve)(uuid)) is None:
        return
    request = await database_sync_to_async(signed_request)(row)
    answer = await send(row.subscription.url, *request)
    await database_sync_to_async(settle)(row, answer)


def signed_request(row: Delivery) -> tuple[bytes, dict[str, str]]:
    """Return the body and the signed headers of a delivery."""
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


async def send(
    url: str, body: bytes, headers: dict[str, str], trust: Trust = Trust.OPERATOR
) -> DeliveryResponse:
    """Send a POST request. The response body is not read, because its size is unlimited."""
    client, patience = find_client(trust), Timeout(ANSWER_SECONDS)
    try:
        asked = client.stream("POST", url, content=body, headers=headers, timeout=patience)
        async with asked as answer:
            status = answer.status_code
    except (EgressRefused, HTTPError, InvalidURL, OSError) as error:
        return DeliveryResponse(None, f"{error}"[:LONGEST_ERROR] or type(error).__name__)
    return DeliveryResponse(
        status, "" if 200 <= status < 300 else f"The receiver returned status {status}."
    )


@transaction.atomic
def settle(row: Delivery, answer: DeliveryResponse) -> None:
    """Record the result of an attempt, and enqueue the next attempt if it failed."""
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
        enqueue_attempt(row.uuid, row.due_at)
    row.save(update_fields=["response_status", "error", "status", "sent_at", "due_at"])
    if answer.status == GONE:
        disable(row.subscription)


def disable(subscription: Subscription) -> None:
    found = Subscription.objects.filter(pk=subscription.pk, is_enabled=True).first()
    if found is not None:
        found.is_enabled, found.problem = False, WANTS_NONE
        found.save(update_fields=["is_enabled", "problem"])


@transaction.atomic
def retry(rows: Iterable[Delivery]) -> int:
    """Restart failed deliveries with the full number of attempts. Return the number of deliveries."""
    dead = Delivery.objects.filter(pk__in=[row.pk for row in rows], status=Delivery.Status.DEAD)
    found = list(dead.select_for_update().values_list("pk", "uuid"))
    for _, uuid in found:
        enqueue_attempt(uuid)
    again = Delivery.objects.filter(pk__in=[pk for pk, _ in found])
    return again.update(status=Delivery.Status.DUE, attempts=0, due_at=timezone.now())


def enqueue_overdue() -> int:
    """Enqueue overdue deliveries that have no job, for example because their subscription was
    disabled. Return their number.
    """
    overdue = waiting().filter(due_at__lt=timezone.now() - OVERDUE, subscription__is_enabled=True)
    found = list(overdue.values_list("uuid", flat=True)[:OVERDUE_AT_ONCE])
    for uuid in found:
        enqueue_attempt(uuid)
    return len(found)


def payload(delivery: Delivery, now: datetime) -> str:
    """Return the event as JSON, with the text of the answer if the subscription includes it."""
    run = Run.objects.filter(pk=delivery.run).first()
    data: dict[str, Any] = {
        "run": str(delivery.run),
        "application": delivery.application,
        "door": delivery.door,
        "status": delivery.event.removeprefix("run."),
    }
    if run is not None:
        data["conversation"] = str(run.stream)
    subscription = delivery.subscription
    may_read = all(user.has_perm(READ_CONTENTS) for user in subscription.people)
    has_text = subscription.has_text and may_read
    if has_text and delivery.event != "run.waiting":
        rows = Message.objects.filter(run=delivery.run, role=Message.Role.ASSISTANT)
        answer = rows.select_related("conversation").first()
        is_told = answer is not None and answer.conversation.temporary_until is None
        data["text"] = answer.text[:LONGEST_TEXT] if answer is not None and is_told else None
    told = {"type": delivery.event, "timestamp": delivery.created_at.isoformat(), "data": data}
    return json.dumps(told, ensure_ascii=False)
