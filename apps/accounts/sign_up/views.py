"""Implements the pages on which visitors sign up."""

import logging
from functools import cached_property
from typing import Any

from allauth.account.forms import SignupForm
from allauth.account.models import EmailAddress
from allauth.account.utils import complete_signup, filter_users_by_email
from allauth.account.views import SignupView
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from apps.accounts.allauth_internals import send_sign_up_mail
from apps.accounts.models import Invitation
from apps.accounts.sign_up import invitations, sign_up

logger = logging.getLogger(__name__)

WAITS_FOR_APPROVAL = "sign_up_needs_approval"
"""The session key that stores whether the new account needs approval."""


class SignUpForm(SignupForm):  # type: ignore[misc]
    account_already_exists: bool

    def __init__(self, *args: Any, invitation: Invitation | None = None, **options: Any) -> None:
        self.invitation = invitation
        super().__init__(*args, **options)
        self.fields["username"].widget.attrs["autofocus"] = True
        if invitation is not None and invitation.email:
            self.fields["email"].disabled = True
            self.initial["email"] = invitation.email

    def validate_unique_email(self, value: str) -> str:
        """Record whether the address belongs to an account. The page does not reveal this; only an
        email to the address does.
        """
        users = filter_users_by_email(value) if settings.SENDS_MAIL else []
        # Visitors can enter any address, so an unconfirmed address proves nothing.
        unconfirmed = {"sign_up__needs_confirmation": True, "is_active": False}
        found = User.objects.filter(pk__in=[user.pk for user in users]).exclude(**unconfirmed)
        self.account_already_exists = found.exists()
        return value


class SignUpView(SignupView):  # type: ignore[misc]
    form_class = SignUpForm

    @cached_property
    def invitation(self) -> Invitation | None:
        return invitations.find(self.request.session.get(invitations.SESSION_KEY))

    def is_open(self) -> bool:
        return sign_up.is_open(self.invitation)

    def closed(self) -> HttpResponse:
        return show_closed(self.request)

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "invitation": self.invitation}

    def get_context_data(self, **values: Any) -> dict[str, Any]:
        needs_approval = sign_up.needs_approval(self.invitation)
        return super().get_context_data(needs_approval=needs_approval, **values)  # type: ignore[no-any-return]

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        try:
            with transaction.atomic():
                user = self.sign_up(form)
        except invitations.UsedUp:
            return self.closed()
        except IntegrityError:
            form.add_error("username", gettext("A user with that username already exists."))
            return self.form_invalid(form)  # type: ignore[no-any-return]
        except OSError:  # An error from the mail server. No account was created.
            logger.exception("Failed to send the email for a sign-up")
            form.add_error(
                None, gettext("The email could not be sent to your address. Try again later.")
            )
            return self.form_invalid(form)  # type: ignore[no-any-return]
        if user is not None and user.is_active:
            done: HttpResponse = complete_signup(self.request, user, None, self.get_success_url())
            return done
        self.request.session[WAITS_FOR_APPROVAL] = sign_up.needs_approval(self.invitation)
        return redirect("sign-up-waiting")

    def sign_up(self, form: SignUpForm) -> User | None:
        """Create the account, send its emails, and return it. Return None if the address already
        belongs to an account.
        """
        if form.account_already_exists:
            # Hash the password, so that the response takes as long as for a new account.
            make_password(form.cleaned_data["password1"])
            address = EmailAddress(user=None, email=form.cleaned_data["email"])
            send_sign_up_mail(self.request, address)
            return None
        user: User = form.save(self.request)
        is_confirmed = self.invitation is not None and self.invitation.is_sent
        sign_up.admit(user, self.invitation, is_confirmed=is_confirmed)
        address = EmailAddress.objects.get(user=user)
        if is_confirmed:
            address.set_verified()
        elif settings.SENDS_MAIL:
            send_sign_up_mail(self.request, address)
        return user


def show_closed(request: HttpRequest) -> HttpResponse:
    is_by_invitation = settings.SIGN_UP == "invitation"
    context = {"is_by_invitation": is_by_invitation, "is_closed": settings.SIGN_UP == "closed"}
    return render(request, "account/signup_closed.html", context, status=404)


def follow_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Store the invitation's token in the session and redirect to the sign-up form, so that no
    later URL contains the token.
    """
    invitation = invitations.find(token)
    if invitation is None or not sign_up.is_open(invitation):
        return show_closed(request)
    request.session[invitations.SESSION_KEY] = token
    return redirect("account_signup")


def show_waiting(request: HttpRequest) -> HttpResponse:
    """Show the page after a sign-up, which explains whether the account still needs confirmation or
    approval.
    """
    needs_approval = request.session.get(WAITS_FOR_APPROVAL, False)
    context = {"needs_approval": needs_approval, "needs_confirmation": settings.SENDS_MAIL}
    return render(request, "account/waiting.html", context)
