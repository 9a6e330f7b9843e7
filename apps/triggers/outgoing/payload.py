"""Builds the JSON of an event for a subscription."""

import json
from datetime import datetime
from typing import Any

from apps.conversations.models import Message
from apps.live.models import Run
from apps.live.sent_request_rows import READ_CONTENTS
from apps.triggers.models import Delivery

LONGEST_TEXT = 100_000


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
