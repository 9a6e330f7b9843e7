"""Defines the admin pages for shared files. All manifests can use these files, and all users can
read them.

For editors of an application, the list also contains the files that were uploaded for it.
"""

import mimetypes
from copy import copy
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat

from apps.catalog.history.conflicts import last_sentence
from apps.catalog.history.recorded_models import row_kind
from apps.catalog.models import Upload
from apps.console.admin.rows.recorded import RecordedAdmin
from apps.console.admin.theme import TEXT_INPUT
from apps.console.operator_rights import editable_applications, edits_all
from apps.errors import FileRefused
from apps.workspace.local.corpora.corpus import compare_soon
from apps.workspace.local.files import files
from apps.workspace.local.files.paths import ROOT, check_name, clean_name, write_path
from apps.workspace.local.files.readers import APPLICATIONS, unrestricted_files
from apps.workspace.local.models import PUBLIC, SharedFile, StoredFile

UNKNOWN_TYPE = "application/octet-stream"
RESERVED = (
    f"{APPLICATIONS} contains the files of single applications. Upload such files in the studio."
)


class SharedFileForm(forms.ModelForm[SharedFile]):
    upload = forms.FileField(
        label="File",
        allow_empty_file=True,
        help_text="Stored unchanged. A new file replaces the old one.",
    )
    name = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.TextInput({"class": TEXT_INPUT}),
        help_text=(
            "The path can include folders, such as guides/travel.pdf. Leave empty to "
            "use the file's name."
        ),
    )

    seen_version = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = SharedFile
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["name"].disabled = True  # Manifests refer to the path.
            self.fields["name"].help_text = ""
            self.fields["seen_version"].initial = self.instance.etag

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        upload = cleaned.get("upload")
        name = cleaned.get("name") or (upload.name if upload else "")
        try:
            check_name(name)
            if upload:
                files.check_size(upload.size)
        except FileRefused as error:
            self.add_error("upload" if upload else "name", str(error))
        is_new = not self.instance.pk
        if is_new and clean_name(name).startswith(APPLICATIONS):
            self.add_error("name", RESERVED)
        if is_new and SharedFile.objects.filter(name=name).exists():
            self.add_error("name", "A file with this name already exists. Open it to replace it.")
        self.refuse_overtaken(cleaned.get("seen_version", ""))
        return {**cleaned, "name": name}

    def refuse_overtaken(self, seen: str) -> None:
        """Add an error if another user replaced the file after the form was opened. The user can
        submit the form again to overwrite the file. Locks the row until the transaction ends.
        """
        if not self.instance.pk or not seen:
            return
        row = StoredFile.objects.select_for_update().filter(pk=self.instance.pk).first()
        if row is None or row.etag == seen:
            return
        data: Any = copy(self.data)
        data[self.add_prefix("seen_version")] = row.etag
        self.data = data
        said = last_sentence(row_kind(SharedFile), row.pk)
        self.add_error(
            "upload",
            f"Another user replaced this file in the meantime. {said} Select your file again "
            "to replace theirs.",
        )


@admin.register(SharedFile)
class SharedFileAdmin(RecordedAdmin[SharedFile]):
    form = SharedFileForm
    list_display = ("name", "content_type", "length", "updated_at")
    search_fields = ("name",)
    search_help_text = "Name"
    readonly_fields = ("path", "content_type", "length", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SharedFile]:
        rows: QuerySet[SharedFile] = super().get_queryset(request)
        if edits_all(request.user):
            return rows
        own = Upload.objects.filter(application__in=editable_applications(request).values("pk"))
        return unrestricted_files(rows, Q(pk__in=own.values("file")))

    def deletions_seen(self, request: HttpRequest) -> Q:
        # It is unknown to which applications the deleted files belonged.
        restricted = Q(title__startswith=f"{ROOT}/{PUBLIC}/{APPLICATIONS}")
        return Q() if edits_all(request.user) else ~restricted

    def row_title(self, request: HttpRequest, row: SharedFile) -> str:
        return row.name

    def get_fieldsets(self, request: HttpRequest, obj: SharedFile | None = None) -> Any:
        if obj is None:
            return ((None, {"fields": ("upload", "name")}),)
        fields = ("path", "name", "content_type", "length", "updated_at", "upload")
        return ((None, {"fields": fields}),)

    @admin.display(description="path", empty_value="")
    def path(self, file: SharedFile) -> str:
        """Return the URL that a manifest uses in `contexts` to attach the file."""
        return write_path(PUBLIC, file.name)

    @admin.display(description="size", ordering="size")
    def length(self, file: SharedFile) -> str:
        return filesizeformat(file.size)

    def save_model(self, request: HttpRequest, obj: SharedFile, form: Any, change: bool) -> None:
        upload, name = form.cleaned_data["upload"], form.cleaned_data["name"]
        kind = mimetypes.guess_type(name)[0] or upload.content_type or UNKNOWN_TYPE
        files.share(name, upload, kind)
        obj.pk = SharedFile.objects.get(name=name).pk
        obj.refresh_from_db()
        compare_soon()

    def delete_model(self, request: HttpRequest, obj: SharedFile) -> None:
        files.delete(PUBLIC, write_path(PUBLIC, obj.name))
        compare_soon()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[SharedFile]) -> None:
        for file in queryset:
            self.delete_model(request, file)
