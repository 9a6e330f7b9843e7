"""The forms for the user's name, picture and API keys on the account page."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import filetype
from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.datetime_fields import check_bounds

LARGEST_PICTURE = 1024 * 1024
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp")


class NameForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        required=False,
        max_length=150,
        help_text=gettext_lazy("Shown instead of your username."),
        widget=forms.TextInput({"autocomplete": "name", "dir": "auto"}),
    )


class PictureForm(forms.Form):
    picture = forms.FileField(
        label=gettext_lazy("Picture"),
        max_length=255,
        help_text=gettext_lazy("PNG, JPEG or WebP, up to 1 MB."),
        widget=forms.FileInput({"accept": ",".join(PICTURE_TYPES)}),
    )

    def clean_picture(self) -> "UploadedFile[Any]":
        """Return the uploaded picture, with a `content_type` detected from its bytes. Raises
        `ValidationError` if it is too large or is not a PNG, JPEG or WebP image.
        """
        sent: UploadedFile[Any] = self.cleaned_data["picture"]
        if sent.size is None or sent.size > LARGEST_PICTURE:
            raise forms.ValidationError(gettext("The picture is too large; the limit is 1 MB."))
        kind = filetype.guess_mime(sent.read(512))
        sent.seek(0)
        if kind not in PICTURE_TYPES:
            raise forms.ValidationError(gettext("This isn’t a PNG, JPEG or WebP image."))
        sent.content_type = kind
        return sent


class OwnKeyForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=50,
        help_text=gettext_lazy("A name that helps you recognize the key, such as “Laptop”."),
    )
    until = forms.DateField(
        label=gettext_lazy("Expires on"),
        required=False,
        help_text=gettext_lazy("Leave empty for no expiry."),
        widget=forms.DateInput({"type": "date"}),
    )
    applications = forms.ModelMultipleChoiceField(
        Application.objects.none(),
        label=gettext_lazy("Apps"),
        required=False,
        help_text=gettext_lazy("If you select none, the key works with all your apps."),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, caller: Caller, data: Any = None) -> None:
        super().__init__(data, auto_id="key-%s")
        self.fields["applications"].queryset = usable(caller)  # type: ignore[attr-defined]

    def clean_until(self) -> datetime | None:
        """Return the end of the selected day in UTC, or None if the API key does not expire."""
        day: date | None = self.cleaned_data["until"]
        if day is None:
            return None
        if day < timezone.now().date():
            raise forms.ValidationError(gettext("Choose a date in the future."))
        check_bounds(datetime.combine(day, time(), UTC))
        return timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))
