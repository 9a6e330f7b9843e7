"""Rows of webhooks and deliveries that have had their time."""

from django.utils import timezone

from apps.old_rows import delete_older
from apps.triggers.models import Delivery, Subscription, WebhookCall

CALL_DAYS = 7
"""For which a webhook knows the messages that it took; their signatures are good for minutes."""
DELIVERY_DAYS = 30


def delete_old() -> int:
    """Also what signs no longer."""
    over = Subscription.objects.filter(former_secret_until__lt=timezone.now())
    over.update(former_secret="", former_secret_until=None)
    return delete_older(WebhookCall, "at", CALL_DAYS) + delete_older(
        Delivery, "created_at", DELIVERY_DAYS
    )
