"""Limits failed sign-ins per username and per network address. allauth counts them in Django's
cache.

After failed attempts, a username is blocked only for the address that made them, so that a user
cannot lock out another user. An address that fails with many usernames is blocked for all of them.
"""

import ipaddress
import logging
import math
import threading
from contextlib import suppress
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context, ratelimit
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy, ngettext

from apps.accounts.allauth_internals import forget_login, seconds_until_open
from apps.accounts.client_address import address_of, network_of
from apps.accounts.models import ServiceAccount

logger = logging.getLogger(__name__)

BY_NAME = "login_failed"
"""The rate limit for each username. An attempt counts before the password is checked, so that
concurrent processes cannot exceed the limit.
"""
BY_ADDRESS = "login_failed_by_address"
"""The rate limit for each network address. Only failed attempts count, because many users in one
office may sign in at the same time.
"""
NOWHERE = "0.0.0.0"  # noqa: S104 - nothing listens there
TURNS = [threading.Lock() for _ in range(64)]
"""Locks that serialize the attempts for one username from one address. Each attempt counts until it
succeeds, so concurrent sign-ins of one user's API clients could otherwise exceed the limit.
"""
TOO_MANY = "too_many_login_attempts"
IGNORED = " X-Forwarded-For was ignored: behind a proxy, set TRUSTED_PROXIES, or all users share its address."


class SignInAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": gettext_lazy(
            "Enter a correct username or email address and password. Usernames and passwords "
            "are case-sensitive."
        ),
    }

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        found = self.verify_credentials(request, **credentials)
        is_enough = settings.PASSWORD_SIGN_IN or (found is not None and found.is_superuser)
        return found if is_enough else None

    def reauthenticate(self, user: User, password: str) -> bool:
        # The user is already signed in. The password only confirms that it is still the same user.
        found = self.verify_credentials(
            context.request, username=user.get_username(), password=password
        )
        return found is not None and found.pk == user.pk

    def verify_credentials(self, request: HttpRequest, **credentials: Any) -> User | None:
        key = self._get_login_attempts_cache_key(request, **credentials)
        with TURNS[hash(key) % len(TURNS)]:
            found: User | None = super().authenticate(request, **credentials)
        return found

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """After too many failed attempts, raise ValidationError with the code TOO_MANY and the
        number of seconds to wait. Rejected attempts do not count.
        """
        if not self.seconds_to_wait(request, **credentials):
            with suppress(ValidationError):  # Attempts in other processes have reached the limit.
                super().pre_authenticate(request, **credentials)
                return
        seconds = max(1, self.seconds_to_wait(request, **credentials))
        self.log_refusal(request, seconds)
        message = gettext("Too many failed attempts. Wait {duration}, then try again.").format(
            duration=duration(seconds)
        )
        raise ValidationError(message, code=TOO_MANY, params={"seconds": seconds})

    def log_refusal(self, request: HttpRequest, seconds: int) -> None:
        is_ignored = "X-Forwarded-For" in request.headers and not settings.TRUSTED_PROXIES
        note = IGNORED if is_ignored else ""
        logger.warning(
            "%s is locked out of sign-in for %d s.%s", self.counted_address(request), seconds, note
        )

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        ratelimit.consume(request, action=BY_ADDRESS)

    def seconds_to_wait(self, request: HttpRequest, **credentials: Any) -> int:
        """Return the seconds until this address may sign in with this username, or 0."""
        key = self._get_login_attempts_cache_key(request, **credentials)
        by_name = seconds_until_open(request, BY_NAME, key)
        return math.ceil(max(by_name, seconds_until_open(request, BY_ADDRESS)))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        # allauth's key contains the host, which the client can choose, but not the address.
        return f"{self.counted_address(request)} {credentials['username']}"

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's address, or NOWHERE on a Unix socket and for an invalid address,
        because a session must have an address.
        """
        with suppress(ValueError):
            return str(ipaddress.ip_address(address_of(request)))
        return NOWHERE

    def counted_address(self, request: HttpRequest) -> str:
        return network_of(self.get_client_ip(request))

    def pre_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse | None:
        """Reject service accounts. allauth calls this for every method of signing in."""
        if ServiceAccount.objects.filter(user=user.pk).exists():
            forget_login(request)
            refusal: HttpResponse = self.respond_user_inactive(request, user)
            return refusal
        answer: HttpResponse | None = super().pre_login(request, user, **options)
        return answer

    def is_safe_url(self, url: str) -> bool:
        """Return True if the URL is on the request's host. allauth itself accepts all
        ALLOWED_HOSTS.
        """
        host = {self.request.get_host()}
        return url_has_allowed_host_and_scheme(url, host, require_https=self.request.is_secure())

    def is_ajax(self, request: HttpRequest) -> bool:
        # allauth's JSON answers support only 200 and 400, and its script for passkeys reads the
        # status.
        return request.method == "GET" and request.path == reverse("mfa_login_webauthn")


def duration(seconds: int) -> str:
    return (
        ngettext("{count} second", "{count} seconds", seconds).format(count=seconds)
        if seconds <= 90
        else gettext("{count} minutes").format(count=math.ceil(seconds / 60))
    )
