"""Limits of failed sign-ins per name and per address; allauth counts them in Django's cache.

A name is blocked only for the address that failed with it, so that a stranger can lock nobody out.
An address that failed with many names is blocked for all of them.
"""

import ipaddress
import logging
import math
import threading
import time
from contextlib import suppress
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.core import context
from allauth.core.internal import httpkit, ratelimit
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy, ngettext

from apps.accounts.models import ServiceAccount

logger = logging.getLogger(__name__)

APP = "allauth.account"
BY_NAME = "login_failed"
"""Counted before the password is checked, so that concurrent processes allow no more tries."""
BY_ADDRESS = "login_failed_by_address"
"""Counted after a failure: many people of one office may sign in at the same time."""
NOWHERE = "0.0.0.0"  # noqa: S104 - nothing listens there
TURNS = [threading.Lock() for _ in range(64)]
"""Tries for one name from one address take turns. Each counts until it succeeds, so without turns a
user whose programs sign in at the same time would be refused."""
TOO_MANY = "too_many_login_attempts"
IGNORED = " X-Forwarded-For was ignored: behind a proxy, set TRUSTED_PROXY_COUNT, or all share its address."


class SignInAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": gettext_lazy(
            "Please enter a correct username or e-mail address and password. "
            "Usernames and passwords are case-sensitive."
        ),
    }

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        found = self.known(request, **credentials)
        is_enough = settings.PASSWORD_SIGN_IN or (found is not None and found.is_superuser)
        return found if is_enough else None

    def reauthenticate(self, user: User, password: str) -> bool:
        # They are signed in: their password tells that it is still them, where it signs in nobody.
        found = self.known(context.request, username=user.get_username(), password=password)
        return found is not None and found.pk == user.pk

    def known(self, request: HttpRequest, **credentials: Any) -> User | None:
        key = self._get_login_attempts_cache_key(request, **credentials)
        with TURNS[hash(key) % len(TURNS)]:
            found: User | None = super().authenticate(request, **credentials)
        return found

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Raises ValidationError with the code TOO_MANY and the seconds to wait; refusals never count."""
        if not self.seconds_to_wait(request, **credentials):
            with suppress(ValidationError):  # other processes were faster
                super().pre_authenticate(request, **credentials)
                return
        seconds = max(1, self.seconds_to_wait(request, **credentials))
        self.log_refusal(request, seconds)
        message = gettext("Too many wrong tries. Wait {duration}, then try again.").format(
            duration=duration(seconds)
        )
        raise ValidationError(message, code=TOO_MANY, params={"seconds": seconds})

    def log_refusal(self, request: HttpRequest, seconds: int) -> None:
        is_ignored = (
            "X-Forwarded-For" in request.headers and not settings.ALLAUTH_TRUSTED_PROXY_COUNT
        )
        note = IGNORED if is_ignored else ""
        logger.warning("%s may not sign in for %d s.%s", ratelimit.get_ip(request), seconds, note)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        ratelimit.consume(request, app=APP, action=BY_ADDRESS)

    def seconds_to_wait(self, request: HttpRequest, **credentials: Any) -> int:
        """Seconds until this address may try this name again; 0 if it may now."""
        key = self._get_login_attempts_cache_key(request, **credentials)
        by_name = seconds_until_open(request, BY_NAME, key)
        return math.ceil(max(by_name, seconds_until_open(request, BY_ADDRESS)))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        # allauth's own key has the host, which a client may choose, and no address.
        return f"{ratelimit.get_ip(request)} {credentials['username']}"

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that trusted proxies tell, else that of the connection.

        NOWHERE on a Unix socket, and for what is no address: sessions have to have one.
        """
        told = None
        with suppress(ImproperlyConfigured):  # fewer addresses than proxies: one was bypassed
            told = httpkit.get_client_ip(request)
        found = plain_address(told or request.META.get("REMOTE_ADDR") or "")
        with suppress(ValueError):
            return str(ipaddress.ip_address(found))
        return NOWHERE

    def pre_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse | None:
        """Every way to sign in leads here; programs have none."""
        if ServiceAccount.objects.filter(user=user.pk).exists():
            clear_login(request)
            refusal: HttpResponse = self.respond_user_inactive(request, user)
            return refusal
        answer: HttpResponse | None = super().pre_login(request, user, **options)
        return answer

    def is_safe_url(self, url: str) -> bool:
        """Whether the URL is on the host of the request; allauth accepts all ALLOWED_HOSTS."""
        host = {self.request.get_host()}
        return url_has_allowed_host_and_scheme(url, host, require_https=self.request.is_secure())

    def is_ajax(self, request: HttpRequest) -> bool:
        # allauth's JSON answers know no status but 200 and 400; its script of passkeys reads one.
        return request.method == "GET" and request.path == reverse("mfa_login_webauthn")


def seconds_until_open(request: HttpRequest, action: str, key: str | None = None) -> float:
    now, waits = time.time(), [0.0]
    for rate in ratelimit.get_rates(app=APP, action=action):
        counted = ratelimit.get_cache_key(request, app=APP, action=action, rate=rate, key=key)
        tries = cache.get(counted, [])
        is_open, tries = ratelimit.apply_rate(tries, now, rate, dry_run=True)
        if not is_open:
            waits.append(tries[-1] + rate.duration - now)
    return max(waits)


def plain_address(text: str) -> str:
    """The address without a zone; an IPv4 address inside IPv6 as IPv4."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    return str(getattr(address, "ipv4_mapped", None) or address)


def duration(seconds: int) -> str:
    if seconds == 1:
        return gettext("a second")
    return (
        ngettext("{count} second", "{count} seconds", seconds).format(count=seconds)
        if seconds <= 90
        else gettext("{count} minutes").format(count=math.ceil(seconds / 60))
    )
