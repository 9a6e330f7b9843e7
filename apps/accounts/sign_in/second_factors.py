"""Configures second factors: authenticator apps, recovery codes and passkeys. allauth stores and
checks them, with encrypted secrets.
"""

import logging
import secrets
from base64 import b32encode
from collections.abc import Callable
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.accounts.encryption import cipher

logger = logging.getLogger(__name__)

SECRETS = ("secret", "seed")
"""The encrypted fields in the data of allauth's `Authenticator`."""
OPEN_PATHS = ("/account/", "/accounts/")
"""A user who lacks a required second factor can open only these paths."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        return cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            logger.error(
                "A stored second factor cannot be decrypted with any SECRET_KEY or SALT_KEY."
            )
            # The secret is random, so that no code is accepted.
            return b32encode(secrets.token_bytes(20)).decode()


class SecondFactorMiddleware(MiddlewareMixin):
    """Redirects staff without a second factor to the page where they add one, if
    MFA_REQUIRED_FOR_STAFF is set.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.path.startswith(OPEN_PATHS):
            return None
        return HttpResponseRedirect(reverse("mfa_index")) if lacks_factor(request.user) else None


def lacks_factor(user: Any) -> bool:
    """Return True if the user must have a second factor and has none."""
    if not (settings.MFA_REQUIRED_FOR_STAFF and user.is_authenticated and user.is_staff):
        return False
    return not Authenticator.objects.filter(user=user, type__in=("totp", "webauthn")).exists()


@transaction.atomic
def remove_all(request: HttpRequest, user_id: int) -> bool:
    """Delete all second factors of a user who has lost them. Return False if the user has none."""
    if not Authenticator.objects.filter(user=user_id).delete()[0]:
        return False
    removed = AuditEvent(
        "second_factor.removed",
        bucket_of(request.user.pk),
        address_of(request),
        subject=bucket_of(user_id),
    )
    audit.record(removed)
    return True


def reencrypt_authenticator(number: int, unreadable: Callable[[], None]) -> bool:
    """Re-encrypt the secrets of an authenticator with the newest key. `number` is its primary key.
    Return True if it has secrets.

    If they cannot be decrypted, call `unreadable` and return False.
    """
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().get(pk=number)
        names = [name for name in SECRETS if name in row.data]
        try:
            for name in names:
                row.data[name] = cipher().rotate(row.data[name].encode()).decode()
        except InvalidToken:
            unreadable()
            return False
        row.save(update_fields=["data"])
    return bool(names)
