"""Decides which users of identity providers get an account, links accounts, and sets the users'
groups.

An email address never links to an existing account, unless the operator trusts the provider's email
addresses. A provider's unverified addresses are not stored at all.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.utils import filter_users_by_email
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext

from apps.accounts.audit import AuditEvent, record
from apps.accounts.caller import bucket_of
from apps.accounts.client_address import network_of
from apps.accounts.models import ClaimMapping, Team
from apps.accounts.sign_in.openid_connect import UnusableResponse
from apps.accounts.sign_up import sign_up
from apps.environment_variables import latest

logger = logging.getLogger(__name__)


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def list_apps(self, request: HttpRequest, **wanted: Any) -> list[SocialApp]:
        """Return the configured identity providers. Each call reads the client secrets that are
        stored in files.
        """
        apps: list[SocialApp] = super().list_apps(request, **wanted)
        for app in apps:
            if name := app.settings.get("client_secret_env"):
                app.secret = latest(name, app.secret)
        return apps

    def populate_user(self, request: HttpRequest, login: SocialLogin, data: dict[str, Any]) -> Any:
        login.email_addresses = [one for one in login.email_addresses if one.verified]
        email = login.email_addresses[0].email if login.email_addresses else None
        return super().populate_user(request, login, {**data, "email": email})

    def authenticate_by_email(self, login: SocialLogin) -> tuple[User, str] | None:
        found: tuple[User, str] | None = super().authenticate_by_email(login)
        # A provider with open registration must not give everyone access to the installation.
        return None if found is None or found[0].is_superuser else found

    def is_open_for_signup(self, request: HttpRequest, login: SocialLogin) -> bool:
        """Return True if the user may get an account. Otherwise, raise ImmediateHttpResponse with a
        page that explains this.
        """
        allowed: bool | None = login.provider.app.settings["allow_sign_up"]
        if allowed or (allowed is None and super().is_open_for_signup(request, login)):
            return True
        raise response_page(request, login, "socialaccount/no_account.html", HTTPStatus.FORBIDDEN)

    def pre_social_login(self, request: HttpRequest, login: SocialLogin) -> None:
        if login.state.get("process") == AuthProcess.CONNECT:
            return
        if login.is_existing:
            update_groups(request, login, login.user)
        elif any(filter_users_by_email(one.email) for one in login.email_addresses):
            raise response_page(
                request, login, "socialaccount/email_taken.html", HTTPStatus.CONFLICT
            )

    @transaction.atomic
    def save_user(self, request: HttpRequest, login: SocialLogin, form: Any = None) -> Any:
        user = super().save_user(request, login, form)
        if login.provider.app.settings["allow_sign_up"] is None:
            sign_up.admit(user, None, is_confirmed=True)
        update_groups(request, login, user)
        return user

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, exception: Any = None, **kwargs: Any
    ) -> None:
        address = network_of(get_account_adapter().get_client_ip(request))
        # The text of other errors may repeat the provider's response, including a secret.
        is_ours = isinstance(exception, UnusableResponse)
        kind = type(exception).__name__ if exception else kwargs.get("error")
        reason = str(exception) if is_ours else kind
        logger.warning("Signing in with %s failed for %s: %s", provider.sub_id, address, reason)

    def validate_disconnect(self, account: SocialAccount, accounts: QuerySet[Any]) -> None:
        """Raise ValidationError if this external account is the user's only way to sign in."""
        if settings.PASSWORD_SIGN_IN or account.user.is_superuser or accounts.count() > 1:
            return
        raise ValidationError(
            gettext(
                "This is the only way to sign in to your account. Add another sign-in method first."
            )
        )


def response_page(
    request: HttpRequest, login: SocialLogin, template: str, status: int
) -> ImmediateHttpResponse:
    page = render(request, template, {"provider": login.provider}, status=status)
    return ImmediateHttpResponse(page)


def update_groups(request: HttpRequest, login: SocialLogin, user: User) -> None:
    app: SocialApp = login.provider.app
    if claim := app.settings["groups_claim"]:
        document = login.account.extra_data
        claimed = claimed_groups(document.get("userinfo", document), claim)
        address = get_account_adapter().get_client_ip(request)
        apply_claims(user, login.account.provider, claimed, address)


def claimed_groups(document: Mapping[str, Any], claim: str) -> frozenset[str]:
    """Return the group names in a claim, which is a string or a list of strings. For any other
    value, return an empty set.

    `claim` is the name of a claim, such as `https://example.org/groups`, or a path into nested
    claims, such as `realm_access.roles`.
    """
    found: Any = document.get(claim)
    if found is None:
        found = document
        for name in claim.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list):
        return frozenset()
    return frozenset(one for one in found if isinstance(one, str))


def apply_claims(user: User, provider: str, claimed: frozenset[str], address: str = "") -> None:
    """Add a user to the local groups that are mapped to the provider's groups in `claimed`. Remove
    the user from each exclusive local group to which none of the groups in `claimed` is mapped.
    """
    rows = list(ClaimMapping.objects.filter(provider=provider).select_related("group"))
    granted = {row.group for row in rows if row.value in claimed}
    exclusive = {row.group for row in rows if row.is_exclusive}
    if not rows:
        return
    with transaction.atomic():
        held = set(Group.objects.filter(user=user, pk__in=[row.group_id for row in rows]))
        joined, left = granted - held, (exclusive & held) - granted
        user.groups.add(*joined)
        user.groups.remove(*left)
        for team in Team.objects.filter(group__in=left):
            team.administrators.remove(user)
        names = [f"+{group}" for group in joined] + [f"-{group}" for group in left]
        for name in sorted(names):
            subject = f"{provider}: {name}"
            record(AuditEvent("groups.changed", bucket_of(user.pk), address, subject=subject))
