"""Defines the form field for a manifest: a text area to which scripts add a form and a code
editor.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput

from apps.catalog.credentials.masking import mask_credentials, restore_credentials
from apps.catalog.review.manifests import Finding
from apps.console.admin.theme import TEXT_INPUT
from apps.manifest.aliases import with_own_names
from apps.manifest.json_text import JSONTextInvalid, parse_json


class ManifestEditor(forms.Textarea):
    """A text area for a manifest. It shows the `findings` below the text."""

    template_name = "editor/manifest_editor.html"
    findings: Sequence[Finding] = ()
    check = "admin:catalog_application_check"
    """The URL name of the view that checks the text while the user types."""
    row: int | None = None
    """The ID of the application whose credentials are masked in the text."""

    class Media:
        css = {"all": ("console/manifest/editor.css",)}
        js = (forms.Script("console/manifest/editor.js", type="module"),)

    def __init__(self) -> None:
        super().__init__({"rows": 24, "spellcheck": "false", "autocapitalize": "off"})
        self.attrs["class"] = f"manifest-editor-text {TEXT_INPUT}"

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        names = ("findings", "check", "row")
        return context | {key: getattr(self, key) for key in names}


class ManifestField(forms.JSONField):
    """A form field for a manifest. Masks stored credentials, and replaces the masks in a submitted
    text with the credentials in `documents`.
    """

    widget = ManifestEditor
    documents: Sequence[Any] = ()

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        try:
            document = parse_json(value)
        except JSONTextInvalid as error:
            raise ValidationError(str(error), code="invalid") from error
        found = restore_credentials(document, self.documents)
        if found.problems:
            lines = [f"{problem.path}: {problem.message}." for problem in found.problems]
            raise ValidationError(lines, code="invalid")
        return with_own_names(found.document)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(mask_credentials(value), indent=2, ensure_ascii=False)


def count_message(count: int) -> str:
    mistakes = "1 error" if count == 1 else f"{count} errors"
    return f"The manifest has {mistakes}, listed next to it. Nothing was saved."
