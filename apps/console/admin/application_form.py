"""The form of an application, with the editor of its manifest.

The editor is a text area that works without JavaScript; the script puts a form and a code editor
over it. A typed text is shown again as it was typed, also if it is no JSON; a stored manifest is
shown with its plain credentials masked.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import masked, put_back
from apps.catalog.models import Application, empty_manifest
from apps.catalog.review import Finding, review_text
from apps.console.admin.document_form import DocumentForm
from apps.console.admin.theme import TEXT_INPUT
from apps.manifest.aliases import with_own_names


class ManifestEditor(forms.Textarea):
    """`findings` are shown below the text; `refused` scrolls to them.

    `check` names the address that reviews a typed text; `row` is the number of the application
    whose credentials are masked in it.
    """

    template_name = "admin/catalog/application/manifest_editor.html"
    findings: Sequence[Finding] = ()
    refused = False
    check = "admin:catalog_application_check"
    row: int | None = None

    class Media:
        css = {"all": ("console/manifest-editor.css",)}
        js = (forms.Script("console/manifest-editor.js", type="module"),)

    def __init__(self) -> None:
        super().__init__({"rows": 24, "spellcheck": "false", "autocapitalize": "off"})
        self.attrs["class"] = f"manifest-editor-text {TEXT_INPUT}"

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        names = ("findings", "refused", "check", "row")
        return context | {key: getattr(self, key) for key in names}


class ManifestField(forms.JSONField):
    """`documents` have the credentials that are masked in the typed one."""

    widget = ManifestEditor
    documents: Sequence[Any] = ()

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        try:
            document = parse(value)
        except JSONTextInvalid as error:
            raise ValidationError(str(error), code="invalid") from error
        found = put_back(document, self.documents)
        if found.problems:
            lines = [f"{problem.path}: {problem.message}." for problem in found.problems]
            raise ValidationError(lines, code="invalid")
        return with_own_names(found.document)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(masked(value), indent=2, ensure_ascii=False)


class ApplicationForm(DocumentForm[Application]):
    manifest = ManifestField(initial=empty_manifest)
    document_field = "manifest"
    copied: Application | None = None

    class Meta:
        model = Application
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.find_masked_documents()
        if not self.is_bound and self.instance.pk:
            self.show_findings()

    def find_masked_documents(self) -> None:
        field: Any = self.fields.get("manifest")
        original = self.copied or self.instance
        if isinstance(field, ManifestField) and original.pk:
            field.documents = [original.manifest]
            field.widget.row = original.pk

    def full_clean(self) -> None:
        super().full_clean()
        # The findings replace the errors of the field: they have a place in the text.
        if self.is_bound and "manifest" in self.errors:
            self.show_findings()

    def show_findings(self) -> None:
        field: Any = self.fields.get("manifest")
        if not isinstance(field, ManifestField):
            return
        editor: ManifestEditor = cast(Any, field).widget
        editor.findings = review_text(str(self["manifest"].value()), sources=field.documents)
        count = sum(finding.severity == "error" for finding in editor.findings)
        if self.is_bound and count:
            editor.refused = True
            self.errors["manifest"] = self.error_class([refusal(count)], renderer=self.renderer)


def refusal(count: int) -> str:
    mistakes = "1 mistake" if count == 1 else f"{count} mistakes"
    return f"The manifest has {mistakes}, listed with it. Nothing was saved."
