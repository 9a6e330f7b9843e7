"""The form for a user's own prompt."""

from typing import Any

from django import forms
from django.utils.translation import gettext

from apps.catalog.saved_prompts import MOST_OF_A_PERSON, SavedPrompt, own_prompts


class PromptForm(forms.ModelForm[SavedPrompt]):
    class Meta:
        model = SavedPrompt
        fields = ("name", "title", "text")
        widgets = {
            "name": forms.TextInput({"autocapitalize": "off", "autocomplete": "off"}),
            "title": forms.TextInput({"dir": "auto"}),
            "text": forms.Textarea({"rows": 12, "dir": "auto"}),
        }

    def __init__(self, row: SavedPrompt, data: Any = None) -> None:
        super().__init__(data, instance=row)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = own_prompts(self.instance.user_id).exclude(pk=self.instance.pk)
        if others.filter(name=name).exists():
            raise forms.ValidationError(
                gettext("You already have a prompt with this name. Choose another name.")
            )
        return name

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        is_new = self.instance.pk is None
        if is_new and own_prompts(self.instance.user_id).count() >= MOST_OF_A_PERSON:
            text = gettext(
                "You have {most_of_a_person} prompts, which is the limit. Delete one first."
            ).format(most_of_a_person=MOST_OF_A_PERSON)
            raise forms.ValidationError(text)
        return cleaned
