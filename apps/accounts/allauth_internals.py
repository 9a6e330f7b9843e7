"""Wraps functions of allauth's private modules that have no public equivalent. Only this module
imports those modules.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

from allauth.account.internal.flows.email_verification import send_verification_email_to_address
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from allauth.idp.oidc.internal.cimd import validate_client_id, validate_metadata
from allauth.idp.oidc.internal.clientkit import is_redirect_uri_allowed
from allauth.idp.oidc.internal.oauthlib.utils import get_validator_context
from allauth.idp.oidc.models import Client
from django.core.cache import cache
from django.http import HttpRequest

APP = "allauth.account"


def forget_login(request: HttpRequest) -> None:
    """Cancel the login that was started in this session."""
    clear_login(request)


def send_sign_up_mail(request: HttpRequest, address: EmailAddress) -> None:
    """Send the email with the link that confirms an address. If the address belongs to an existing
    account, the email says so instead.
    """
    send_verification_email_to_address(request, address, signup=True)


def seconds_until_open(request: HttpRequest, action: str, key: str | None = None) -> float:
    """Return the seconds until the rate limit allows the action, or 0 if the action is allowed now.
    This check does not count as an attempt.
    """
    now, waits = time.time(), [0.0]
    for rate in ratelimit.get_rates(app=APP, action=action):
        counted = ratelimit.get_cache_key(request, app=APP, action=action, rate=rate, key=key)
        tries = cache.get(counted, [])
        is_open, tries = ratelimit.apply_rate(tries, now, rate, dry_run=True)
        if not is_open:
            waits.append(tries[-1] + rate.duration - now)
    return max(waits)


def may_read_document(request: HttpRequest) -> bool:
    """Count a request for a client's metadata document against the rate limit. Return False if the
    limit is exceeded. allauth's public function does not limit GET requests.
    """
    return bool(ratelimit.consume(request, app=APP, action="client_document", limit_get=True))


def described_client(client_id: str, fetch: Callable[[], Any]) -> Client:
    """Return an OAuth client, without storing it, from the metadata document that `fetch` returns.
    Raises ValidationError if the ID is not the URL of a document, or the document is invalid.
    """
    address = validate_client_id(client_id)
    return validate_metadata(client_id, address, fetch())


def use_client(client: Client) -> None:
    """Make allauth use this object for the OAuth client in the current request, including its
    unsaved changes.
    """
    get_validator_context().clients[client.pk] = client


def is_redirect_allowed(address: str, allowed: Iterable[str]) -> bool:
    """Return True if `address` matches one of the redirect URIs in `allowed`."""
    is_allowed: bool = is_redirect_uri_allowed(address, [*allowed], allow_uri_wildcards=False)
    return is_allowed
