"""Defines the form for a test case. A script shows its JSON as rows of messages and expectations."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput

from apps.cases.models import Case, first_messages
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import TEXT_INPUT
from apps.manifest.json_text import JSONTextInvalid, parse_json


class CaseEditor(forms.Textarea):
    """A text area for JSON, which a script replaces with a table of messages or expectations.
    `rows_of` is "messages" or "expectations".
    """

    template_name = "admin/cases/editor.html"

    class Media:
        css = {"all": ("console/pages.css", "console/evaluate/cases.css")}
        js = (forms.Script("console/evaluate/cases.js", type="module"),)

    def __init__(self, rows_of: str) -> None:
        super().__init__({"rows": 8, "spellcheck": "false", "autocapitalize": "off"})
        self.attrs["class"] = TEXT_INPUT
        self.rows_of = rows_of

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        return context | {"rows_of": self.rows_of}


class RowsField(forms.JSONField):
    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return []
        try:
            return parse_json(value)
        except JSONTextInvalid as error:
            raise ValidationError(str(error), code="invalid") from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)


class CaseForm(VersionedForm[Case]):
    messages = RowsField(
        initial=first_messages,
        widget=CaseEditor("messages"),
        help_text=Case._meta.get_field("messages").help_text,
    )
    expectations = RowsField(
        initial=list,
        required=False,
        widget=CaseEditor("expectations"),
        help_text=Case._meta.get_field("expectations").help_text,
    )

    class Meta:
        model = Case
        fields = ()  # Set by the admin.
