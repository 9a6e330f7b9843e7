"""Files that operators share: any manifest may name them, and everybody may read them."""

import mimetypes
from copy import copy
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat

from apps.catalog.history.conflicts import last_sentence
from apps.catalog.history.kinds import kind_of
from apps.console.admin.recorded import RecordedAdmin
from apps.errors import FileRefused
from apps.workspace.local import files
from apps.workspace.local.corpus import compare_soon
from apps.workspace.local.models import PUBLIC, SharedFile, StoredFile
from apps.workspace.local.paths import check_name, write_path

UNKNOWN_TYPE = "application/octet-stream"


class SharedFileForm(forms.ModelForm[SharedFile]):
    upload = forms.FileField(
        label="File",
        allow_empty_file=True,
        help_text="It is stored as it is. A new file takes the place of the old one.",
    )
    name = forms.CharField(
        max_length=500,
        required=False,
        help_text="With folders if you like, such as guides/travel.pdf. Empty: the file's own.",
    )

    seen_version = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = SharedFile
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["name"].disabled = True  # manifests refer to the path
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
        if is_new and SharedFile.objects.filter(name=name).exists():
            self.add_error("name", "There is a file of that name; open it to replace it.")
        self.refuse_overtaken(cleaned.get("seen_version", ""))
        return {**cleaned, "name": name}

    def refuse_overtaken(self, seen: str) -> None:
        """Report a replacement since the form was shown, once; the row stays locked until it is saved."""
        if not self.instance.pk or not seen:
            return
        row = StoredFile.objects.select_for_update().filter(pk=self.instance.pk).first()
        if row is None or row.etag == seen:
            return
        data: Any = copy(self.data)
        data[self.add_prefix("seen_version")] = row.etag
        self.data = data
        said = last_sentence(kind_of(SharedFile), row.pk)
        self.add_error(
            "upload",
            f"Somebody replaced this file while you were at it. {said} Choose yours again to put it "
            "in the place of theirs.",
        )


@admin.register(SharedFile)
class SharedFileAdmin(RecordedAdmin[SharedFile]):
    form = SharedFileForm
    list_display = ("name", "content_type", "length", "updated_at")
    search_fields = ("name",)
    readonly_fields = ("path", "content_type", "length", "updated_at")

    def get_fieldsets(self, request: HttpRequest, obj: SharedFile | None = None) -> Any:
        if obj is None:
            return ((None, {"fields": ("upload", "name")}),)
        fields = ("path", "name", "content_type", "length", "updated_at", "upload")
        return ((None, {"fields": fields}),)

    @admin.display(description="path", empty_value="")
    def path(self, file: SharedFile) -> str:
        """The url of a context in a manifest."""
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
