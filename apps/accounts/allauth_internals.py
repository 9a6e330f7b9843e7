"""Wraps the functions in allauth's private modules that have no public equivalent. No other module
imports allauth's private modules.
"""

import time

from allauth.account.internal.flows.email_verification import send_verification_email_to_address
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from django.core.cache import cache
from django.http import HttpRequest

APP = "allauth.account"


def forget_login(request: HttpRequest) -> None:
    """Cancel the login that was started in this session."""
    clear_login(request)


def send_sign_up_mail(request: HttpRequest, address: EmailAddress) -> None:
    """Send the email with the link that confirms an address. If the address belongs to an existing
    account, the email states this instead.
    """
    send_verification_email_to_address(request, address, signup=True)


def seconds_until_open(request: HttpRequest, action: str, key: str | None = None) -> float:
    """Return the seconds until the rate limit of an action admits a request. This call does not
    count as a request.
    """
    now, waits = time.time(), [0.0]
    for rate in ratelimit.get_rates(app=APP, action=action):
        counted = ratelimit.get_cache_key(request, app=APP, action=action, rate=rate, key=key)
        tries = cache.get(counted, [])
        is_open, tries = ratelimit.apply_rate(tries, now, rate, dry_run=True)
        if not is_open:
            waits.append(tries[-1] + rate.duration - now)
    return max(waits)
