"""Implements the sign-in page, which the admin also uses."""

from typing import Any
from urllib.parse import urlencode

from allauth.account.forms import LoginForm
from allauth.account.models import EmailAddress
from allauth.account.views import LoginView
from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.views import LogoutView
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from apps.accounts.sign_up import sign_up
from apps.accounts.throttle import TOO_MANY


class SignInForm(LoginForm):  # type: ignore[misc]
    """The sign-in form. It accepts a username or an email address, and its fields have the names
    that Django's own form uses.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        name = forms.TextInput({"autofocus": True})
        self.fields["login"] = UsernameField(
            label=gettext("Username or email address"), max_length=254, widget=name
        )
        self.order_fields(["login"])
        if not settings.SENDS_MAIL:
            self.fields["password"].help_text = gettext(
                "If you’ve forgotten it, ask an administrator for a new one."
            )

    def add_prefix(self, field_name: str) -> str:
        return "username" if field_name == "login" else field_name

    def user_credentials(self) -> dict[str, str]:
        """Return the username and the password. Replace an email address with the account's
        username, so that failed attempts with either one count for the same account.
        """
        typed = self.cleaned_data["login"]
        return {
            "username": username_at(typed) or typed,
            "password": self.cleaned_data.get("password", ""),
        }


def username_at(address: str) -> str:
    """Return the username of the only account with this email address, or "" if there is none or
    several have it.

    A confirmed address takes precedence over an unconfirmed one. If the text is itself a username,
    return "".
    """
    accounts = User.objects.filter(is_active=True)
    if "@" not in address or accounts.filter(username=address).exists():
        return ""
    confirmed = EmailAddress.objects.filter(verified=True, email__iexact=address)
    by_precedence = (Q(pk__in=confirmed.values("user")), Q(email__iexact=address))
    for which in by_precedence:
        if found := list(accounts.filter(which).values_list("username", flat=True)[:2]):
            return found[0] if len(found) == 1 else ""
    return ""


class SignInView(LoginView):  # type: ignore[misc]
    form_class = SignInForm
    template_name = "registration/login.html"

    def get_context_data(self, **values: Any) -> dict[str, Any]:
        more = {
            "sign_up_is_open": sign_up.is_open(None),
            "password_sign_in": settings.PASSWORD_SIGN_IN,
        }
        return super().get_context_data(**more, **values)  # type: ignore[no-any-return]

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        answer: HttpResponse = super().form_invalid(form)
        for error in form.non_field_errors().as_data():
            if error.code == TOO_MANY:
                answer.status_code = 429
                answer["Retry-After"] = str(error.params["seconds"])
        return answer


def sign_in_to_admin(request: HttpRequest) -> HttpResponse:
    """Redirect from the admin's login to the sign-in page, preserving a posted form."""
    index = reverse("admin:index")
    is_form = request.method == "POST"
    if not is_form and admin.site.has_permission(request):
        return HttpResponseRedirect(index)
    wanted = urlencode({"next": request.GET.get("next") or index})
    return HttpResponseRedirect(f"{reverse('login')}?{wanted}", preserve_request=is_form)


class SignOutView(LogoutView):
    """Signs the user out. A GET request, such as from a bookmark, shows a button for that."""

    http_method_names = ("get", "head", "post", "options")

    def get(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect("login")
        return render(request, "account/logout.html")
