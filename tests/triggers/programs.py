"""A program that calls a webhook, and its rows."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import User
from django.urls import path
from django.utils import timezone

from apps.accounts.models import ServiceAccount
from apps.catalog.models import Application
from apps.conversations.answering.continuation import sweeper
from apps.live.hub import Hub
from apps.triggers.models import Webhook
from apps.triggers.webhook_secrets import BytesSigner, renew_secret
from apps.triggers.webhooks.consumer import WebhookConsumer
from tests.chat.scripts import PATIENCE, Scene, settled

ORDER = {"id": 7, "note": "two boxes"}


def make_account(name: str = "orders-robot") -> ServiceAccount:
    account: ServiceAccount = ServiceAccount.objects.create(user=User.objects.create_user(name))
    return account


def make_webhook(application: Application, **fields: Any) -> tuple[Webhook, str]:
    """Return the row, and its secret or key."""
    account = fields.pop("account", None) or make_account(f"robot-{uuid4().hex[:8]}")
    saver = fields.pop("saved_by", None) or User.objects.create_superuser(f"root-{uuid4().hex[:8]}")
    webhook = Webhook(
        name="Orders", application=application, account=account, saved_by=saver, **fields
    )
    secret = renew_secret(webhook)
    webhook.save()
    return webhook, secret


amake_webhook = database_sync_to_async(make_webhook)


class Program:
    """Calls a webhook with its secret."""

    def __init__(self, webhook: Webhook, secret: str, hub: Hub) -> None:
        self.webhook, self.secret, self.hub = webhook, secret, hub

    async def send(
        self,
        body: Any = ORDER,
        *,
        id: str = "msg_1",
        method: str = "POST",
        uuid: UUID | None = None,
        headers: dict[str, str] | None = None,
        age: float = 0.0,
    ) -> tuple[int, Any, dict[str, str]]:
        """Return the status, the JSON and the headers of the answer. `headers` replace the
        program's own."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", **self.signature(raw, id, age)}
        sent = {name: value for name, value in {**sent, **(headers or {})}.items() if value}
        routes: Any = [path("hooks/<uuid:uuid>", WebhookConsumer.as_asgi(hub=self.hub))]
        scope = {
            "type": "http",
            "method": method,
            "path": f"/hooks/{uuid or self.webhook.uuid}",
            "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
            "client": ("192.0.2.7", 4711),
        }
        exchange = ApplicationCommunicator(URLRouter(routes), scope)
        await exchange.send_input({"type": "http.request", "body": raw})
        head = await exchange.receive_output(PATIENCE)
        answer = await exchange.receive_output(PATIENCE)
        await exchange.wait(PATIENCE)
        await asyncio.sleep(0)  # the listener for a disconnect ends now
        told = {name.decode(): value.decode() for name, value in head["headers"]}
        return head["status"], json.loads(answer["body"] or b"null"), told

    def signature(self, raw: bytes, id: str, age: float) -> dict[str, str]:
        if self.webhook.check_kind == Webhook.Check.KEY:
            return {"authorization": f"Bearer {self.secret}", "webhook-id": id}
        at = timezone.now() - timedelta(seconds=age)
        return {
            "webhook-id": id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": BytesSigner(self.secret).sign(id, at, raw.decode("latin-1")),
        }


async def sweep(on: Scene) -> None:
    """Start what is queued, and wait until it is over."""
    await sweeper(on.hub, on.visitor.open_workspace).sweep()
    await settled(on.hub)
