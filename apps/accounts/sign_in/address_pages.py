"""Restricts the pages about email addresses to installations that send email."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.forms import AddEmailForm
from allauth.account.models import EmailAddress
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

View = Callable[..., HttpResponse]


def with_mail(view: View) -> View:
    """Wrap a view so that it shows an explanation if the server does not send email."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        if settings.SENDS_MAIL:
            return view(request, *args, **options)
        return render(request, "account/no_mail.html")

    return page


class AddressForm(AddEmailForm):  # type: ignore[misc]
    """The form for a new email address, which replaces the old one when the user confirms it."""

    def save(self, request: HttpRequest) -> EmailAddress:
        unverified = EmailAddress.objects.filter(user=self.user, verified=False)
        unverified.exclude(email=self.user.email.lower()).delete()
        address = self.cleaned_data["email"]
        return EmailAddress.objects.add_email(request, self.user, address, confirm=True)
