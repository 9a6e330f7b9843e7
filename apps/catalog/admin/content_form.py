"""The form of a predefined item: what is saved can be used."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from apps.catalog.admin.theme import LowTextarea
from apps.catalog.content.installed import installed
from apps.catalog.content.models import ContentItem
from apps.catalog.content.review import item_problems, with_item

MOST_MISTAKES = 20


class HighTextarea(LowTextarea):
    def __init__(self) -> None:
        super().__init__({"rows": 24, "spellcheck": "false", "autocapitalize": "off"})
        self.attrs["class"] = f"{self.attrs.get('class', '')} content-text"


class Text(forms.CharField):
    """A text as it was typed, with the line ends that files have."""

    widget = HighTextarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")


class Files(forms.JSONField):
    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return json.dumps(value, indent=2, ensure_ascii=False)
        return super().prepare_value(value)

    def clean(self, value: Any) -> Any:
        return super().clean(value) or {}


class ContentForm(forms.ModelForm[ContentItem]):
    text = Text(help_text=ContentItem._meta.get_field("text").help_text)
    files = Files(  # type: ignore[assignment]  # Django takes fields out of the class
        required=False,
        widget=LowTextarea,
        help_text="Of a skill: an object of texts by their paths beside SKILL.md.",
    )
    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = ContentItem
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seen_version"].initial = self.instance.version

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        seen = self.cleaned_data.get("seen_version")
        if self.instance._state.adding or seen is None:
            return cleaned
        # The row stays locked until it is saved, or the request ends.
        rows = ContentItem.objects.select_for_update().filter(pk=self.instance.pk)
        version = rows.values_list("version", flat=True).first()
        if version is not None and version != seen:
            self.data = {**dict(self.data.items()), self.add_prefix("seen_version"): version}
            raise forms.ValidationError(
                "Somebody saved this item while you were editing it. Compare with the saved one in "
                "another tab; saving again overwrites it with what stands here."
            )
        return cleaned

    def _post_clean(self) -> None:
        """After the model's own checks: what it refers to has to be there and to fit."""
        super()._post_clean()  # type: ignore[misc]
        if self.errors or "text" not in self.fields:
            return
        item = self.instance.item
        for problem in list(item_problems(with_item(installed(), item), item))[:MOST_MISTAKES]:
            self.add_error("text", problem)
