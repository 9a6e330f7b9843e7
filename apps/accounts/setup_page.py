"""The page with which the first administrator is made; afterwards there is no such page."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.internal import ratelimit
from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from apps.accounts import first_run
from apps.accounts.throttle import APP

WRONG = gettext_lazy("This is not the token, or it was used.")


class SetupForm(BaseUserCreationForm[User]):
    token = forms.CharField(
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false", "autofocus": True}),
        help_text=gettext_lazy(
            "It stands in the log of the server, which wrote it there when it started."
        ),
    )

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].widget.attrs["autofocus"] = False
        self.fields["email"].label = gettext("E-mail address (optional)")
        self.order_fields(["token"])

    def clean_token(self) -> str:
        token: str = self.cleaned_data["token"]
        if not first_run.is_right(token):
            raise forms.ValidationError(WRONG)
        return token

    def validate_unique(self) -> None:
        # Which names there are is for those who have the token.
        if "token" in self.cleaned_data:
            super().validate_unique()


@never_cache
@sensitive_post_parameters()
def setup(request: HttpRequest) -> HttpResponse:
    if not first_run.is_needed():
        raise Http404
    form = SetupForm(request.POST or None)
    if request.method == "POST":
        if not ratelimit.consume(request, app=APP, action="setup"):
            refused: HttpResponse = ratelimit.respond_429(request)
            return refused
        if form.is_valid():
            made = form.cleaned_data
            try:
                user = first_run.make_administrator(
                    made["token"], made["username"], made["email"], made["password1"]
                )
            except first_run.Refused:
                form.add_error("token", WRONG)  # somebody was faster
            else:
                get_adapter().login(request, user)
                return redirect("admin:index")
    return render(request, "account/setup.html", {"form": form})
