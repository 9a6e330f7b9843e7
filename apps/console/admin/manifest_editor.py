"""The field that a manifest is edited in.

It is a text area that works without JavaScript; the script puts a form and a code editor over it.
What was typed comes back exactly as it was typed, also when it is no JSON. What is stored comes
without its plain credentials.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import masked, put_back
from apps.catalog.review import Finding
from apps.console.admin.theme import TEXT_INPUT

MODULE = {"type": "module"}


class ManifestEditor(forms.Textarea):
    """`findings` are shown with the text that they are about; `refused` leads there at once.

    `check` is the name of the address that finds them while somebody types, and `row` the number of
    the application whose hidden credentials are meant.
    """

    template_name = "admin/catalog/application/manifest_editor.html"
    findings: Sequence[Finding] = ()
    refused = False
    check = "admin:catalog_application_check"
    row: int | None = None

    class Media:
        css = {"all": ("console/manifest-editor.css",)}
        js = (forms.Script("console/manifest-editor.js", **MODULE),)

    def __init__(self) -> None:
        super().__init__({"rows": 24, "spellcheck": "false", "autocapitalize": "off"})
        self.attrs["class"] = f"manifest-editor-text {TEXT_INPUT}"

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        shown = {
            "findings": self.findings,
            "refused": self.refused,
            "check": self.check,
            "row": self.row,
        }
        return {**context, **shown}

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        # Form renderers look into installed apps only, not into the project's templates.
        return render_to_string(self.template_name, self.get_context(name, value, attrs))


class ManifestField(forms.JSONField):
    """`sources` are the documents that have what is hidden in the one that is typed."""

    widget = ManifestEditor
    sources: Sequence[Any] = ()

    @property
    def documents(self) -> Sequence[Any]:
        return self.sources

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        try:
            document = parse(value)
        except JSONTextInvalid as error:
            raise ValidationError(str(error), code="invalid") from error
        found = put_back(document, self.sources)
        if found.problems:
            lines = [f"{problem.path}: {problem.message}." for problem in found.problems]
            raise ValidationError(lines, code="invalid")
        return found.document

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(masked(value), indent=2, ensure_ascii=False)


class KeptManifestField(ManifestField):
    """Of a document that is kept elsewhere: what is hidden here could not be told from it."""

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)
