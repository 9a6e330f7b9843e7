"""Sends push notifications when the state of a task changes."""

from collections.abc import Sequence
from datetime import timedelta

import msgspec
from channels.db import database_sync_to_async
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Signer

from apps.a2a.models import PushConfig
from apps.a2a.push_configs import trust_of
from apps.a2a.tasks import describe_task
from apps.conversations.models import Conversation
from apps.live.doors import A2A
from apps.live.listeners import RunNews
from apps.tasks.task import task
from apps.triggers.outgoing.attempts import GONE, PAUSES, WHILE_READ_ONLY, send
from apps.triggers.webhook_secrets import PREFIX
from apps.workspace.local import read_only

Request = tuple[str, bytes, dict[str, str]]
TOKEN_HEADER = "x-a2a-notification-token"  # noqa: S105 - a name


def note_runs(news: Sequence[RunNews]) -> None:
    """Enqueue push notifications about A2A tasks whose state has changed."""
    runs = [one.run for one in news if one.door == A2A]
    if runs:
        for pk in PushConfig.objects.filter(run__in=runs).values_list("pk", flat=True):
            push.enqueue(pk, 1)


@task("a2a.push", title="A2A push notifications", retries=5)
async def push(config: int, attempt: int) -> None:
    """Send a task's current state to a configuration's URL, and enqueue another attempt if this
    fails.

    `config` is the configuration's primary key, and `attempt` counts from 1.
    """
    if await read_only.is_on_async():
        await enqueue(config, attempt, WHILE_READ_ONLY)
        return
    request: Request | None = await database_sync_to_async(push_request)(config)
    if request is None:
        return
    url, body, headers = request
    answer = await send(url, body, headers, trust_of(url))
    if answer.status == GONE:
        await PushConfig.objects.filter(pk=config).adelete()
    elif answer.error and attempt <= len(PAUSES):
        await enqueue(config, attempt + 1, timedelta(seconds=PAUSES[attempt - 1]))


async def enqueue(config: int, attempt: int, pause: timedelta) -> None:
    later = push.using(run_after=timezone.now() + pause)
    await database_sync_to_async(later.enqueue)(config, attempt)


def push_request(config: int) -> Request | None:
    """Return the URL, body and headers of a notification, or None if the configuration or the
    conversation was deleted.
    """
    row = PushConfig.objects.select_related("run").filter(pk=config).first()
    if row is None or not Conversation.objects.undeleted().filter(pk=row.run.stream).exists():
        return None
    body = msgspec.json.encode({"task": describe_task(row.run, 0)})
    headers = {"content-type": "application/json"}
    if row.scheme:
        headers["authorization"] = f"{row.scheme} {row.credentials}".rstrip()
    if is_signing_secret(row.token):
        headers |= signature(row, body)
    elif row.token:
        headers[TOKEN_HEADER] = row.token
    return row.url, body, headers


def signature(row: PushConfig, body: bytes) -> dict[str, str]:
    """Return the headers that sign the body according to Standard Webhooks."""
    now = timezone.now()
    id = f"{row.run_id}-{row.pk}-{int(row.run.beat_at.timestamp())}"
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Signer(row.token).sign(id, now, body.decode()),
    }


def is_signing_secret(token: str) -> bool:
    """Return True if the token is a Standard Webhooks signing secret. Such a secret must not be
    sent.
    """
    if not token.startswith(PREFIX):
        return False
    try:
        Signer(token)
    except (ValueError, RuntimeError):
        return False
    return True
