"""Creates and checks webhook secrets, and creates the secrets for signing deliveries."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from hmac import compare_digest

from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Signer
from standardwebhooks.webhooks import WebhookVerificationError

from apps.triggers.models import Subscription, Webhook

PREFIX = "whsec_"
SECRET_BYTES = 32
OVERLAP = timedelta(hours=24)
"""After a rotation, deliveries are also signed with the old secret for this long."""
KEY_HEADER = "x-api-key"


def new_secret() -> str:
    """Return a random signing secret in the format of Standard Webhooks."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def renew_secret(webhook: Webhook) -> str:
    """Set and return a new secret or key for the webhook. The old one becomes invalid. Does not
    save the row.
    """
    if webhook.check_kind == Webhook.Check.SIGNATURE:
        webhook.secret, webhook.key_hash = new_secret(), ""
        return webhook.secret
    key = secrets.token_urlsafe(SECRET_BYTES)
    webhook.secret, webhook.key_hash = "", hash_of(key)
    return key


def renew_signing(subscription: Subscription) -> str:
    """Set and return a new secret for the subscription. For `OVERLAP`, deliveries are also signed
    with the old secret. Does not save the row.
    """
    if subscription.secret:
        subscription.former_secret = subscription.secret
        subscription.former_secret_until = timezone.now() + OVERLAP
    subscription.secret = new_secret()
    return subscription.secret


def signing_secrets(subscription: Subscription, now: datetime) -> list[str]:
    """Return the secrets with which to sign a delivery at the time `now`, newest first."""
    until, former = subscription.former_secret_until, subscription.former_secret
    is_good = former and until is not None and now < until
    return [subscription.secret, former] if is_good else [subscription.secret]


def hash_of(key: str) -> str:
    # The key is random, so a slow hash would add nothing.
    return hashlib.sha256(key.encode()).hexdigest()


def is_signature_valid(webhook: Webhook, headers: Mapping[str, str], body: bytes) -> bool:
    """Return True if the request has a valid signature or key. Names in `headers` are in lowercase."""
    if webhook.check_kind == Webhook.Check.KEY:
        return bool(webhook.key_hash) and compare_digest(
            hash_of(sent_key(headers)), webhook.key_hash
        )
    if not webhook.secret:
        return False
    # `Signer` verifies text, but a sender can sign any bytes. Latin-1 has a character for each byte,
    # and `BytesSigner` converts them back.
    try:
        BytesSigner(webhook.secret).verify(body.decode("latin-1"), dict(headers), json_parse=False)
    # `ValueError` is raised for text that is not valid base64 or ASCII.
    except (WebhookVerificationError, ValueError):
        return False
    return True


class BytesSigner(Signer):
    """A `Signer` for any bytes, not just UTF-8 text. `data` contains one character per byte."""

    def sign(self, msg_id: str, timestamp: datetime, data: str) -> str:
        signed = f"{msg_id}.{int(timestamp.timestamp())}.".encode() + data.encode("latin-1")
        digest = hmac.digest(self._whsecret, signed, "sha256")
        return f"v1,{base64.b64encode(digest).decode()}"


def sent_key(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else headers.get(KEY_HEADER, "")
