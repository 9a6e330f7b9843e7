"""Accounts that come from identity providers: who gets one, and which person it is.

Nobody is taken for somebody else because of an e-mail address, unless the operator trusts the
provider with that; addresses that the provider has not verified are not kept at all.
"""

import logging
from http import HTTPStatus
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.utils import filter_users_by_email
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext

from apps.accounts import sign_up
from apps.accounts.claims import apply_claims, told_groups

logger = logging.getLogger(__name__)


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def populate_user(self, request: HttpRequest, login: SocialLogin, data: dict[str, Any]) -> Any:
        login.email_addresses = [one for one in login.email_addresses if one.verified]
        email = login.email_addresses[0].email if login.email_addresses else None
        return super().populate_user(request, login, {**data, "email": email})

    def authenticate_by_email(self, login: SocialLogin) -> tuple[User, str] | None:
        found: tuple[User, str] | None = super().authenticate_by_email(login)
        # A provider that hands out addresses must not thereby hand out the installation.
        return None if found is None or found[0].is_superuser else found

    def is_open_for_signup(self, request: HttpRequest, login: SocialLogin) -> bool:
        """Raises ImmediateHttpResponse with a page for strangers who get no account."""
        allowed: bool | None = login.provider.app.settings["allow_sign_up"]
        if allowed or (allowed is None and super().is_open_for_signup(request, login)):
            return True
        raise instead(request, login, "socialaccount/no_account.html", HTTPStatus.FORBIDDEN)

    def pre_social_login(self, request: HttpRequest, login: SocialLogin) -> None:
        if login.state.get("process") == AuthProcess.CONNECT:
            return
        if login.is_existing:
            take_claims(request, login, login.user)
        elif any(filter_users_by_email(one.email) for one in login.email_addresses):
            raise instead(request, login, "socialaccount/email_taken.html", HTTPStatus.CONFLICT)

    @transaction.atomic
    def save_user(self, request: HttpRequest, login: SocialLogin, form: Any = None) -> Any:
        user = super().save_user(request, login, form)
        if login.provider.app.settings["allow_sign_up"] is None:
            sign_up.admit(user, None, is_confirmed=True)
        take_claims(request, login, user)
        return user

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, exception: Any = None, **kwargs: Any
    ) -> None:
        address = ratelimit.get_ip(request)
        # The text of an error may repeat what the provider answered, and with it a secret.
        reason = type(exception).__name__ if exception else kwargs.get("error")
        logger.warning("Signing in with %s failed for %s: %s", provider.sub_id, address, reason)

    def validate_disconnect(self, account: SocialAccount, accounts: QuerySet[Any]) -> None:
        """Raises ValidationError if nobody could sign in to the account any more."""
        if settings.PASSWORD_SIGN_IN or account.user.is_superuser or accounts.count() > 1:
            return
        raise ValidationError(gettext("This is the only way to sign in to your account."))


def instead(
    request: HttpRequest, login: SocialLogin, template: str, status: int
) -> ImmediateHttpResponse:
    page = render(request, template, {"provider": login.provider}, status=status)
    return ImmediateHttpResponse(page)


def take_claims(request: HttpRequest, login: SocialLogin, user: User) -> None:
    app: SocialApp = login.provider.app
    if claim := app.settings["groups_claim"]:
        document = login.account.extra_data
        told = told_groups(document.get("userinfo", document), claim)
        address = get_account_adapter().get_client_ip(request)
        apply_claims(user, login.account.provider, told, address)
