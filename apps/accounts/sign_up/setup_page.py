"""Serves the page that creates the first administrator. Once there is one, the page returns 404."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core import ratelimit
from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from apps.accounts.sign_up import first_run

WRONG = gettext_lazy(
    "This token is incorrect or was already used. Copy the token from the server log."
)


class SetupForm(BaseUserCreationForm[User]):
    token = forms.CharField(
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false", "autofocus": True}),
        help_text=gettext_lazy(
            "You can find the token in the server log, where it is written at startup."
        ),
    )

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].widget.attrs["autofocus"] = False
        self.fields["email"].label = gettext("Email address (optional)")
        self.order_fields(["token"])

    def clean_token(self) -> str:
        token: str = self.cleaned_data["token"]
        if not first_run.is_valid_token(token):
            raise forms.ValidationError(WRONG)
        return token

    def validate_unique(self) -> None:
        # The names of existing accounts are revealed only to holders of the token.
        if "token" in self.cleaned_data:
            super().validate_unique()


@never_cache
@sensitive_post_parameters()
def setup(request: HttpRequest) -> HttpResponse:
    if not first_run.is_needed():
        raise Http404
    form = SetupForm(request.POST or None)
    if request.method == "POST":
        if not ratelimit.consume(request, action="setup"):
            refused: HttpResponse = ratelimit.respond_429(request)
            return refused
        if form.is_valid():
            made = form.cleaned_data
            try:
                user = first_run.make_administrator(
                    made["token"], made["username"], made["email"], made["password1"]
                )
            except first_run.SetupRefused:
                form.add_error("token", WRONG)  # Another request created the administrator first.
            else:
                get_adapter().login(request, user)
                return redirect("admin:index")
    return render(request, "account/setup.html", {"form": form})
