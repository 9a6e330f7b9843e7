"""Configures allauth's account management."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.core import ratelimit
from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext

from apps.accounts.sign_up import sign_up
from apps.accounts.throttle import BY_NAME, SignInAdapter


class AccountAdapter(SignInAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return True if visitors can sign up without an invitation."""
        return sign_up.is_open(None)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        is_confirmed: bool = super().confirm_email(request, email_address)
        if is_confirmed and sign_up.confirm(email_address.user):
            messages.info(
                request, gettext("Your account is waiting for an administrator’s approval.")
            )
        return is_confirmed

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **found: Any) -> None:
        # allauth counts attempts by email address, but our limits count them by username.
        for address in EmailAddress.objects.filter(**found).select_related("user"):
            name = address.user.get_username()
            key = self._get_login_attempts_cache_key(request, username=name)
            ratelimit.clear(request, action=BY_NAME, key=key)
