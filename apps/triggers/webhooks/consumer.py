"""Serves `POST /hooks/{uuid}`, which sends a message without waiting for the answer."""

import hashlib
from collections.abc import Mapping
from uuid import UUID, uuid4

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings

from apps import outages
from apps.accounts.caller import Caller
from apps.accounts.client_address import address_of_scope
from apps.conversations.answering.answers import announce_queued
from apps.conversations.asking.audit_events import question_events
from apps.doors.bodies import BodyTooSlow, RequestBodyTooLarge, decode_body
from apps.doors.json_consumer import JsonConsumer
from apps.doors.refusals import Header
from apps.errors import BadRequest, Closing, NotAdmitted, OddType, QuickAppError, Refused
from apps.live.hub import HUB, Hub
from apps.live.limits.quotas import Rate, admit_request, rates_of
from apps.triggers.models import LONGEST_WEBHOOK_ID
from apps.triggers.webhook_secrets import is_signature_valid
from apps.triggers.webhooks import intake
from apps.triggers.webhooks.intake import AcceptedRequest
from apps.triggers.webhooks.templates import render_message

OWN_STATUS = {"empty_text": 422, "too_long": 413, "queue_full": 429}
"""The HTTP statuses of error codes that have a different status on the chat page."""
RETRY_SECONDS = 30
"""The default `Retry-After` in seconds if the queue is full. The server cannot predict when a
message leaves the queue.
"""
SECONDS = {
    one.code: outages.RETRY_SECONDS for one in (outages.DATABASE, outages.BUSY, outages.STORAGE)
}
TASK = "/api/IAIAssistantApi/tasks/"


class WebhookConsumer(JsonConsumer):
    """Checks method, size, URL, credentials, rate limit, application, content type and body, in
    this order.

    Opening an application is expensive, so it comes after the credentials and the rate limit.
    """

    methods = ("POST",)

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    async def answer(self) -> None:
        body = await self.read_body(settings.WEBHOOK_MAX_BODY_BYTES)
        if self.hub.is_closing:
            raise Closing(
                "server_stopping", "The server is restarting. Send the request again in a moment."
            )
        uuid: UUID = self.scope["url_route"]["kwargs"]["uuid"]
        webhook = await intake.find_webhook(uuid)
        headers = text_headers(self.scope["headers"])
        if not is_signature_valid(webhook, headers, body):
            raise NotAdmitted("not_admitted", "The signature or the key is not valid.")
        own = Rate("requests", "caller", f"webhook-{webhook.pk}", webhook.requests_per_minute)
        await admit_request([own])
        caller, application = await intake.open_application(webhook)
        await admit_request(rates_of(caller, application))
        sent = read_json(headers.get("content-type", ""), body)
        caller = caller.at(address=address_of_scope(self.scope))
        text = await render_message(webhook.template, sent, webhook.name)
        accept_message = database_sync_to_async(intake.accept_message)
        accepted = await accept_message(webhook, caller, application, message_id(headers), text)
        self.begin(caller, accepted)
        await self.accept(accepted)

    def begin(self, caller: Caller, accepted: AcceptedRequest) -> None:
        """Record the audit events for a new run, and notify the other processes of it."""
        started = accepted.started
        if started is not None and accepted.is_new:
            self.hub.summaries.queue_audit(
                *question_events(started, caller, is_first=accepted.is_first)
            )
            self.hub.hold(announce_queued(self.hub, started.run))

    async def accept(self, accepted: AcceptedRequest) -> None:
        task = f"{TASK}{accepted.task}"
        told = {
            "task_id": str(accepted.task),
            "conversation": str(accepted.conversation),
            "task": task,
        }
        await self.send_json(202, told, [(b"location", task.encode())])

    async def refuse(self, error: QuickAppError) -> None:
        code, status = error.code, OWN_STATUS.get(error.code, error.http_status)
        if isinstance(error, RequestBodyTooLarge):
            code = "too_large"
        elif isinstance(error, BodyTooSlow):
            code = "too_slow"
        headers: list[Header] = []
        if status == 405:
            headers.append((b"allow", ", ".join(self.methods).encode()))
        if status in (429, 503):
            seconds = getattr(error, "retry_after", None) or SECONDS.get(code, RETRY_SECONDS)
            headers.append((b"retry-after", b"%d" % max(1, round(seconds))))
        await self.send_json(status, {"error": {"message": str(error), "code": code}}, headers)


def text_headers(sent: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in sent}


def read_json(content_type: str, body: bytes) -> object:
    """Parse a JSON body. Raises `Refused` if it is invalid or its content type is not JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise OddType("unsupported_type", "Send JSON with the content type application/json.")
    try:
        found: object = decode_body(body, msgspec.json.decode)
    except BadRequest as error:
        raise Refused("invalid_json", error.message) from error
    return found


def message_id(headers: Mapping[str, str]) -> str:
    """Return the message ID that the sender chose, or a random ID if there is none."""
    sent = headers.get("webhook-id", "")
    if len(sent) > LONGEST_WEBHOOK_ID:
        return hashlib.sha256(sent.encode()).hexdigest()
    return sent or uuid4().hex
