"""How a program shows that it may use a webhook: a signature, or a key."""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from hmac import compare_digest

from standardwebhooks.webhooks import Webhook as Signer
from standardwebhooks.webhooks import WebhookVerificationError

from apps.triggers.models import Webhook

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
