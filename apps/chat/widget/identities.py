"""Verifies identities: JSON Web Tokens with which another site's server identifies its user to a
widget.

The widget's key determines the algorithm: HS256 for a shared secret, or EdDSA for an Ed25519 public
key.
"""

import hashlib
import time
from datetime import UTC, datetime
from typing import Any

import jwt
from django.utils import timezone

from apps.catalog.models import Widget
from apps.catalog.widgets.identity_keys import algorithm_of
from apps.chat.widget.models import UsedIdentity
from apps.errors import NotAdmitted

LONGEST_LIFE = 300
"""The maximum number of seconds for which an identity can be valid."""
CLOCK_SECONDS = 30
"""The maximum difference in seconds between the clocks of this server and the other site's server.
"""
LONGEST_IDENTITY = 4_096
LONGEST_NAME = 200
"""The maximum number of characters in the claims `sub` and `jti`."""
REQUIRED = ("aud", "exp", "jti", "sub")


def use_identity(widget: Widget, identity: str) -> str:
    """Return the user's name (the claim `sub`) from an identity. An identity can be used only once.
    Raises `NotAdmitted` if it is invalid, expired or already used.
    """
    claims = verified_claims(widget, identity)
    until = datetime.fromtimestamp(claims["exp"] + CLOCK_SECONDS, UTC)
    mark_as_used(f"{widget.pk}:{claims['jti']}", until)
    return str(claims["sub"])


def mark_as_used(name: str, until: datetime) -> None:
    """Record that a one-time token was used, by storing a hash of its `name` until the token
    expires. Raises `NotAdmitted` if it was used before.
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    _, is_new = UsedIdentity.objects.get_or_create(digest=digest, defaults={"expires_at": until})
    if not is_new:
        raise refusal("it was already used")


def verified_claims(widget: Widget, identity: str) -> dict[str, Any]:
    """Return the claims of an identity. Raises `NotAdmitted` if it is invalid or expired."""
    if not widget.identity_key:
        raise refusal("the widget has no key for identities")
    if len(identity) > LONGEST_IDENTITY:
        raise refusal("it is too long")
    try:
        claims: dict[str, Any] = jwt.decode(
            identity,
            widget.identity_key,
            # The token's own `alg` is ignored: with HS256, the public key would pass as the secret.
            algorithms=[algorithm_of(widget.identity_key)],
            audience=widget.application.slug,
            leeway=CLOCK_SECONDS,
            options={"require": [*REQUIRED], "strict_aud": True},
        )
    except (jwt.PyJWTError, ValueError, OverflowError) as error:
        raise refusal("its signature or a claim is invalid or expired") from error
    names = (claims["sub"], claims["jti"])
    if not all(isinstance(one, str) and 0 < len(one) <= LONGEST_NAME for one in names):
        raise refusal("sub and jti must be strings")
    if not isinstance(claims["exp"], int | float):
        raise refusal("exp must be a number")
    if claims["exp"] > time.time() + LONGEST_LIFE + CLOCK_SECONDS:
        raise refusal("it is valid for more than five minutes")
    return claims


def refusal(reason: str) -> NotAdmitted:
    return NotAdmitted("identity_invalid", f"The identity is invalid: {reason}.")


def delete_expired() -> int:
    return UsedIdentity.objects.filter(expires_at__lt=timezone.now()).delete()[0]
