"""The secrets of webhooks, by which programs show that they may ask, and of subscriptions."""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from hmac import compare_digest

from django.conf import settings
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Signer
from standardwebhooks.webhooks import WebhookVerificationError

from apps.triggers.models import Subscription, Webhook

PREFIX = "whsec_"
SECRET_BYTES = 32
KEY_HEADER = "x-api-key"


def new_secret() -> str:
    """A signing secret as Standard Webhooks writes it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def renew(webhook: Webhook) -> str:
    """Give the unsaved row a new secret or key, which it returns; the former one is void."""
    if webhook.check_kind == Webhook.Check.SIGNATURE:
        webhook.secret, webhook.key_hash = new_secret(), ""
        return webhook.secret
    key = secrets.token_urlsafe(SECRET_BYTES)
    webhook.secret, webhook.key_hash = "", hash_of(key)
    return key


def renew_signing(subscription: Subscription) -> str:
    """Give the unsaved row a new secret, which it returns; the former one signs beside it for a time."""
    if subscription.secret and settings.SUBSCRIPTION_SECRET_OVERLAP_HOURS:
        overlap = timedelta(hours=settings.SUBSCRIPTION_SECRET_OVERLAP_HOURS)
        subscription.former_secret = subscription.secret
        subscription.former_secret_until = timezone.now() + overlap
    subscription.secret = new_secret()
    return subscription.secret


def signing_secrets(subscription: Subscription, now: datetime) -> list[str]:
    """The newest first."""
    until, former = subscription.former_secret_until, subscription.former_secret
    is_good = former and until is not None and now < until
    return [subscription.secret, former] if is_good else [subscription.secret]


def hash_of(key: str) -> str:
    # The key is random, so a slow hash would add nothing.
    return hashlib.sha256(key.encode()).hexdigest()


def is_valid(webhook: Webhook, headers: Mapping[str, str], body: bytes) -> bool:
    """`headers` have names in lower case."""
    if webhook.check_kind == Webhook.Check.KEY:
        return bool(webhook.key_hash) and compare_digest(
            hash_of(sent_key(headers)), webhook.key_hash
        )
    if not webhook.secret:
        return False
    try:
        Signer(webhook.secret).verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # the second for what is no base64 or no text
        return False
    return True


def sent_key(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else headers.get(KEY_HEADER, "")
