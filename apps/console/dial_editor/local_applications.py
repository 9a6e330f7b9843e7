"""Edits this installation's applications in the framed editor. Each save publishes a version."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from apps.catalog.actions import save
from apps.catalog.actions.save_rules import check_content
from apps.catalog.models import Application
from apps.catalog.review.manifests import review_text
from apps.catalog.versions.publishing_requests import AT_ONCE, SecondPublisherRequired, is_required
from apps.console.admin.rows.document_form import DocumentForm
from apps.console.dial_editor.edits import Edit, EditRefused, EditSaved
from apps.console.manifest_editor.manifest_field import ManifestEditor, ManifestField, count_message
from apps.console.operator_rights import PUBLISH

GENERAL = {"name": "title", "description": "description"}
"""The fields that users edit in DIAL's chat, outside the frame, and their database columns."""
MAY_NOT_PUBLISH = (
    "You don’t have permission to publish, and this editor publishes what it saves. Save a draft in "
    "the studio, and ask a publisher to publish it."
)


class LocalApplicationForm(DocumentForm[Application]):
    """The form for an application in the framed editor. Saving it publishes the changes."""

    manifest = ManifestField()
    document_field = "manifest"

    class Meta:
        model = Application
        fields = ("title", "description", "manifest")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.manifest_field.documents = [self.instance.manifest]
        self.editor.row = self.instance.pk
        if not self.is_bound:
            self.review()

    @property
    def manifest_field(self) -> ManifestField:
        return cast(ManifestField, self.fields["manifest"])

    @property
    def editor(self) -> ManifestEditor:
        return cast(ManifestEditor, self.manifest_field.widget)

    @property
    def saves_document(self) -> bool:
        return self.has_changed()

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not self.has_changed():
            return cleaned
        if self.saver is not None and not self.saver.has_perm(PUBLISH):
            raise ValidationError(MAY_NOT_PUBLISH)
        if is_required(self.instance):
            raise SecondPublisherRequired(AT_ONCE)
        return cleaned

    def _post_clean(self) -> None:
        super()._post_clean()
        try:
            check_content(self.instance)
        except ValidationError as error:
            self.add_error(None, error)

    def full_clean(self) -> None:
        super().full_clean()
        # The findings replace the field's errors, because they have positions in the text.
        if self.is_bound and "manifest" in self.errors:
            self.review()
            if count := sum(finding.severity == "error" for finding in self.editor.findings):
                self.errors["manifest"] = self.error_class(
                    [count_message(count)], renderer=self.renderer
                )

    def review(self) -> None:
        text = str(self["manifest"].value())
        self.editor.findings = review_text(text, sources=self.manifest_field.documents)


def may_change_local(request: HttpRequest, row: Application | None = None) -> bool:
    return bool(admin.site.get_model_admin(Application).has_change_permission(request, row))


def save_application(request: HttpRequest, row: Application, edit: Edit) -> EditSaved:
    """Save and publish an edit. Raises `EditRefused` if the edit is invalid or outdated."""
    with transaction.atomic():
        form: Any = LocalApplicationForm(form_data(row, edit), instance=row)
        form.saver = request.user
        if not form.is_valid():
            raise EditRefused("\n".join(error_lines(form)), newer_version(form, edit))
        if not form.has_changed():
            return EditSaved(str(row.version), has_changes=False)
        save.execute(form.save(commit=False))
        rows = admin.site.get_model_admin(Application)
        changes = rows.construct_change_message(request, form, [])
        rows.log_change(request, row, changes)
    return EditSaved(str(row.version), has_changes=True)


def form_data(row: Application, edit: Edit) -> dict[str, Any]:
    general = {
        field: edit.general[name]
        for name, field in GENERAL.items()
        if isinstance(edit.general.get(name), str)
    }
    stored = {"title": row.title, "description": row.description}
    return {**stored, **general, "manifest": edit.text, "seen_version": edit.version}


def error_lines(form: forms.ModelForm[Application]) -> list[str]:
    """Return one line per error. Errors in fields outside the frame start with the field's
    label.
    """
    return [
        f"{form.fields[field].label}: {line}" if field in GENERAL.values() else str(line)
        for field, lines in form.errors.items()
        for line in lines
    ]


def newer_version(form: forms.ModelForm[Application], edit: Edit) -> str:
    """Return the version that another user saved in the meantime, or ""."""
    held = str(form.data["seen_version"])
    return "" if held == edit.version else held
