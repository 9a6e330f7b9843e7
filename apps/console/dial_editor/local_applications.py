"""Applications of this installation in the framed editor, saved as the admin saves them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest

from apps.catalog.models import Application
from apps.console.admin.application_form import ApplicationForm
from apps.console.dial_editor.edits import Edit, Refused, Saved

FIELDS = ("title", "description", "manifest")
GENERAL = {"name": "title", "description": "description"}
"""Columns of the fields that the chat edits itself."""

LocalApplicationForm = forms.modelform_factory(Application, form=ApplicationForm, fields=FIELDS)


def may_change(request: HttpRequest, row: Application | None = None) -> bool:
    return bool(admin.site.get_model_admin(Application).has_change_permission(request, row))


def save_application(request: HttpRequest, row: Application, edit: Edit) -> Saved:
    """Raises `Refused`."""
    with transaction.atomic():
        form: Any = LocalApplicationForm(form_data(row, edit), instance=row)
        form.saver = request.user
        if not form.is_valid():
            raise Refused("\n".join(error_lines(form)), newer_version(form, edit))
        if not form.has_changed():
            return Saved(str(row.version), has_changes=False)
        form.save()
        rows = admin.site.get_model_admin(Application)
        changes = rows.construct_change_message(request, form, [])
        rows.log_change(request, row, changes)
    return Saved(str(row.version), has_changes=True)


def form_data(row: Application, edit: Edit) -> dict[str, Any]:
    general = {
        field: edit.general[name]
        for name, field in GENERAL.items()
        if isinstance(edit.general.get(name), str)
    }
    stored = {"title": row.title, "description": row.description}
    return {**stored, **general, "manifest": edit.text, "seen_version": edit.version}


def error_lines(form: forms.ModelForm[Application]) -> list[str]:
    """One for each error; fields that are not on the page are named."""
    return [
        f"{form.fields[field].label}: {line}" if field in GENERAL.values() else str(line)
        for field, lines in form.errors.items()
        for line in lines
    ]


def newer_version(form: forms.ModelForm[Application], edit: Edit) -> str:
    """The version that somebody else saved meanwhile, "" if nobody did."""
    held = str(form.data["seen_version"])
    return "" if held == edit.version else held
