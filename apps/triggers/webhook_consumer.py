"""The door for webhooks: `POST /hooks/{uuid}` asks an application, and the answer comes later."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID, uuid4

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings

from apps import outages
from apps.accounts.addresses import address_of_scope
from apps.accounts.caller import Caller
from apps.chat.answers import tell_of_queued
from apps.chat.audit_events import question_events
from apps.chat.json_consumer import JSON, JsonConsumer
from apps.chat.protocol import to_json
from apps.doors.bodies import BodyTooLarge, BodyTooSlow
from apps.errors import Closing, NotAdmitted, OddType, QuickAppError, Refused
from apps.live.hub import HUB, Hub
from apps.live.rates import Rate, admit, rates_of
from apps.triggers import webhook_intake
from apps.triggers.models import LONGEST_WEBHOOK_ID
from apps.triggers.webhook_intake import Taken
from apps.triggers.webhook_secrets import is_valid
from apps.triggers.webhook_templates import message_of

OWN_STATUS = {"empty_text": 422, "too_long": 413, "queue_full": 429}
"""Statuses of refusals that have another one where somebody types a question, by code."""
RETRY_SECONDS = 30
"""Where nothing says when there is room again."""
SECONDS = {one.code: outages.RETRY_SECONDS for one in (outages.DATABASE, outages.STORAGE)}
TASK = "/api/IAIAssistantApi/tasks/"


class WebhookConsumer(JsonConsumer):
    """Checks method, size, address, credentials, rate, application, type and body, in this order.

    Opening the application is the expensive step, so only a request with valid credentials and
    within the webhook's rate limit reaches it.
    """

    method = "POST"

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    async def answer(self) -> None:
        body = await self.read_body(settings.WEBHOOK_MAX_BODY_BYTES)
        if self.hub.is_closing:
            raise Closing("server_stopping", "The server is restarting. Send it again in a moment.")
        uuid: UUID = self.scope["url_route"]["kwargs"]["uuid"]
        webhook = await webhook_intake.find_webhook(uuid)
        headers = text_headers(self.scope["headers"])
        if not is_valid(webhook, headers, body):
            raise NotAdmitted("not_admitted", "The signature or the key is not valid.")
        own = Rate("requests", "caller", f"webhook-{webhook.pk}", webhook.requests_per_minute)
        await admit([own])
        caller, application = await webhook_intake.open_application(webhook)
        await admit(rates_of(caller, application))
        sent = read_json(headers.get("content-type", ""), body)
        caller = replace(caller, address=address_of_scope(self.scope))
        text = await message_of(webhook.template, sent, webhook.name)
        take = database_sync_to_async(webhook_intake.take)
        taken = await take(webhook, caller, application, message_id(headers), text)
        self.begin(caller, taken)
        await self.accept(taken)

    def begin(self, caller: Caller, taken: Taken) -> None:
        """Have the processes look for the run that is queued now."""
        begun = taken.begun
        if begun is not None and taken.is_new:
            self.hub.summaries.keep_audit(*question_events(begun, caller, is_first=taken.is_first))
            self.hub.hold(tell_of_queued(self.hub, begun.run))

    async def accept(self, taken: Taken) -> None:
        task = f"{TASK}{taken.task}"
        told = {"task_id": str(taken.task), "conversation": str(taken.conversation), "task": task}
        await self.respond(202, to_json(told).encode(), (*JSON, (b"location", task.encode())))

    async def refuse(self, error: QuickAppError) -> None:
        code, status = error.code, OWN_STATUS.get(error.code, error.http_status)
        if isinstance(error, BodyTooLarge):
            code = "too_large"
        elif isinstance(error, BodyTooSlow):
            code = "too_slow"
        headers = [*JSON]
        if status == 405:
            headers.append((b"allow", self.method.encode()))
        if status in (429, 503):
            seconds = getattr(error, "retry_after", None) or SECONDS.get(code, RETRY_SECONDS)
            headers.append((b"retry-after", b"%d" % max(1, round(seconds))))
        told = {"error": {"message": str(error), "code": code}}
        await self.respond(status, to_json(told).encode(), headers)


def text_headers(sent: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in sent}


def read_json(content_type: str, body: bytes) -> object:
    """Raises `Refused`."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise OddType("unsupported_type", "Send JSON, with the content type application/json.")
    try:
        found: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused("invalid_json", f"The body is not valid JSON: {error}.") from error
    return found


def message_id(headers: Mapping[str, str]) -> str:
    """The sender's id of the message; a random one for a program that names none."""
    sent = headers.get("webhook-id", "")
    if len(sent) > LONGEST_WEBHOOK_ID:
        return hashlib.sha256(sent.encode()).hexdigest()
    return sent or uuid4().hex
