"""Deletes old rows of webhooks and deliveries."""

from django.utils import timezone

from apps.old_rows import delete_older
from apps.triggers.models import Delivery, MailNotice, Subscription, WebhookCall

CALL_DAYS = 7
"""A webhook stores received messages for this many days. Their signatures are valid for minutes."""
DELIVERY_DAYS = 30
MAIL_DAYS = 1
"""A mail that could not be sent within this many days is given up."""


def delete_old() -> int:
    """Delete old rows, and secrets that no longer sign."""
    over = Subscription.objects.filter(former_secret_until__lt=timezone.now())
    over.update(former_secret="", former_secret_until=None)
    return (
        delete_older(WebhookCall, "at", CALL_DAYS)
        + delete_older(Delivery, "created_at", DELIVERY_DAYS)
        + delete_older(MailNotice, "due_at", MAIL_DAYS)
    )
