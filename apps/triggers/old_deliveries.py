"""Deletes old webhook calls, deliveries and emails, and expired secrets."""

from django.utils import timezone

from apps.old_rows import delete_older
from apps.triggers.models import Delivery, MailNotice, Subscription, WebhookCall

CALL_DAYS = 7
"""Webhook calls are stored for this many days. Their signatures are valid only for minutes."""
DELIVERY_DAYS = 30
MAIL_DAYS = 1
"""An email that could not be sent within this many days is deleted."""


def delete_old() -> int:
    """Delete old rows and expired secrets. Return the number of deleted rows."""
    over = Subscription.objects.filter(former_secret_until__lt=timezone.now())
    over.update(former_secret="", former_secret_until=None)
    return (
        delete_older(WebhookCall, "at", CALL_DAYS)
        + delete_older(Delivery, "created_at", DELIVERY_DAYS)
        + delete_older(MailNotice, "due_at", MAIL_DAYS)
    )
