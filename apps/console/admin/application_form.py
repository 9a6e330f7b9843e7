"""The form of an application, which shows what is wrong with its manifest where it is."""

from __future__ import annotations

from typing import Any, cast

from apps.catalog.models import Application, empty_manifest
from apps.catalog.review import review_text
from apps.console.admin.document_form import DocumentForm
from apps.console.admin.manifest_editor import ManifestEditor, ManifestField


class ApplicationForm(DocumentForm[Application]):
    manifest = ManifestField(initial=empty_manifest)
    document_field = "manifest"
    copied: Application | None = None

    class Meta:
        model = Application
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.find_sources()
        if not self.is_bound and self.instance.pk:
            self.show_findings()

    def find_sources(self) -> None:
        """What is hidden in the manifest is in the row, or in the one that is copied."""
        field: Any = self.fields.get("manifest")
        original = self.copied or self.instance
        if isinstance(field, ManifestField) and original.pk:
            field.sources = [original.manifest]
            field.widget.row = original.pk

    def full_clean(self) -> None:
        """Replace the lines at the manifest by the findings, which know where they are."""
        super().full_clean()
        if self.is_bound and "manifest" in self.errors:
            self.show_findings()

    def show_findings(self) -> None:
        field: Any = self.fields.get("manifest")
        if not isinstance(field, ManifestField):
            return
        editor: ManifestEditor = cast(Any, field).widget
        editor.findings = review_text(str(self["manifest"].value()), sources=field.sources)
        count = sum(finding.severity == "error" for finding in editor.findings)
        if self.is_bound and count:
            editor.refused = True
            self.errors["manifest"] = self.error_class([refusal(count)], renderer=self.renderer)


def refusal(count: int) -> str:
    mistakes = "1 mistake" if count == 1 else f"{count} mistakes"
    return f"The manifest has {mistakes}, listed with it. Nothing was saved."
