"""Deletes old rows of webhooks and deliveries."""

from django.utils import timezone

from apps.old_rows import delete_older
from apps.triggers.models import Delivery, MailNotice, Subscription, WebhookCall

CALL_DAYS = 7
"""The number of days for which a webhook stores received messages. Their signatures are valid only
for minutes.
"""
DELIVERY_DAYS = 30
MAIL_DAYS = 1
"""The number of days after which an unsent email is deleted."""


def delete_old() -> int:
    """Delete old rows, and secrets that are no longer used for signing."""
    over = Subscription.objects.filter(former_secret_until__lt=timezone.now())
    over.update(former_secret="", former_secret_until=None)
    return (
        delete_older(WebhookCall, "at", CALL_DAYS)
        + delete_older(Delivery, "created_at", DELIVERY_DAYS)
        + delete_older(MailNotice, "due_at", MAIL_DAYS)
    )
