"""The form for email notifications and quiet hours on the account page."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from apps.accounts.models import NoticeSettings
from apps.datetime_fields import time_zone_select
from apps.datetimes import zone_names

ENDS = ("quiet_from", "quiet_until")
ONE_END = gettext_lazy("Enter both a start and an end time, or leave both empty.")


class NoticeForm(forms.ModelForm[NoticeSettings]):
    class Meta:
        model = NoticeSettings
        fields = ("sends_mail", "quiet_from", "quiet_until", "time_zone")
        labels = {
            "sends_mail": gettext_lazy("Email notifications"),
            "quiet_from": gettext_lazy("Quiet hours start"),
            "quiet_until": gettext_lazy("Quiet hours end"),
            "time_zone": gettext_lazy("Time zone"),
        }
        help_texts = {
            "sends_mail": gettext_lazy(
                "You get an email when an answer is complete or needs your input, unless you see it within a minute. The email contains a link but no content from the conversation."
            ),
            "quiet_until": gettext_lazy(
                "During quiet hours, you don’t receive browser notifications or email. Quiet hours can extend past midnight."
            ),
        }
        widgets = {
            "quiet_from": forms.TimeInput({"type": "time"}, format="%H:%M"),
            "quiet_until": forms.TimeInput({"type": "time"}, format="%H:%M"),
            "time_zone": time_zone_select(),
        }

    def __init__(self, user: Any, data: Any = None) -> None:
        kept = NoticeSettings.objects.filter(user=user).first()
        super().__init__(data, instance=kept or NoticeSettings(user=user), auto_id="notices-%s")
        if not settings.SENDS_MAIL:
            del self.fields["sends_mail"]
        elif not user.email:
            self.fields["sends_mail"].disabled = True
            self.fields["sends_mail"].help_text = gettext(
                "Add an email address to your account first."
            )

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"]
        if name not in zone_names():
            raise forms.ValidationError(gettext("Enter a valid time zone, such as Europe/Riga."))
        return name

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        # A form that a script sent contains only the changed fields.
        begin, end = (self.cleaned_data.get(name, getattr(self.instance, name)) for name in ENDS)
        if not self.errors.keys() & set(ENDS) and (begin is None) != (end is None):
            names = ENDS if begin is None else reversed(ENDS)
            self.add_error(next(name for name in names if name in self.fields), ONE_END)
        return cleaned
