"""The form of applications, copies of them, and what is done with several at once."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from apps.accounts.addresses import address_of
from apps.accounts.buckets import bucket_of
from apps.catalog.application_files.managed import known_problems
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.application_files.starts import example_named
from apps.catalog.grants import audit_grants, grants_of
from apps.catalog.history.kinds import Snapshot
from apps.catalog.history.recorder import update_rows
from apps.catalog.models import Application, ApplicationDraft, Change
from apps.catalog.properties import GRANTING, PROPERTIES, save_properties
from apps.catalog.versions.drafts import WRITTEN, new_application, save_draft
from apps.catalog.versions.publication import archive
from apps.catalog.versions.publishing_requests import TWO_PEOPLE, audit_rule
from apps.console.admin.application_exports import export
from apps.console.admin.application_form import ApplicationForm, stored_draft
from apps.console.admin.application_list import ApplicationList
from apps.console.admin.attached_files import attached_files
from apps.console.admin.document_form import DocumentAdmin
from apps.console.admin.draft_pages import DraftPages
from apps.console.admin.editor_requests import check_manifest, manifest_schemas
from apps.console.admin.grants import GrantInline
from apps.console.admin.operated_applications import OperatedApplications
from apps.console.admin.prompt_preview import preview_request
from apps.console.admin.recorded import HISTORY_FIELDS
from apps.console.admin.restoration import Restoration
from apps.console.operated import edited, may_grant, may_rule_publishing, sees_all
from apps.console.people import known_users, sees_users

MOST_WARNINGS = 10
DRAFT_FIRST = "There is a draft. Publish or discard it first."
IN_DRAFT = (
    "What you changed is in the draft, which answers nobody yet. "
    '<a class="underline" href="{}">Publish…</a>'
)


@admin.register(Application)
class ApplicationAdmin(
    DraftPages, ApplicationList, OperatedApplications, DocumentAdmin[Application]
):
    form = ApplicationForm
    prepopulated_fields = {"slug": ("title",)}
    autocomplete_fields = ("owner",)
    actions = ("enable", "disable", "archive_selected")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "title",
                    "slug",
                    "description",
                    "icon",
                    "picture",
                    "seen_draft",
                    "digests",
                )
            },
        ),
        ("Manifest", {"fields": ("manifest",)}),
        ("Availability", {"fields": ("is_enabled", "is_public", "is_shared", "owner")}),
        ("Publishing", {"fields": (TWO_PEOPLE,)}),
        HISTORY_FIELDS,
    )
    inlines = (GrantInline,)

    class Media:
        css = {
            "all": (
                *("console/workbench.css", "console/runs.css", "console/tiles.css"),
                *("chat/styles/requests.css", "chat/styles/tiles.css"),
            )
        }
        js = (forms.Script("console/prompt-preview.js", type="module"),)

    def get_autocomplete_fields(self, request: HttpRequest) -> Any:
        """None for operators who may not search all accounts; they choose among known people."""
        return super().get_autocomplete_fields(request) if sees_users(request.user) else ()

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.name == "owner" and not sees_users(request.user):
            number = request.resolver_match.kwargs.get("object_id")
            row = self.get_object(request, number) if number else None
            options["queryset"] = known_users(request.user, row)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def get_readonly_fields(self, request: HttpRequest, obj: Application | None = None) -> Any:
        """For those who are no owners with the fields that say who may use it."""
        fields = super().get_readonly_fields(request, obj)
        if not may_rule_publishing(request, obj):
            fields = (*fields, TWO_PEOPLE)
        return fields if may_grant(request, obj) else (*fields, *GRANTING)

    def consequences(self, request: HttpRequest, rows: Iterable[Application]) -> list[SafeString]:
        # Nothing but their number: conversations belong to their owners.
        kept = Count("conversations"), Count("conversations__owner", distinct=True)
        numbers = [row.pk for row in rows]
        found = Application.objects.filter(pk__in=numbers).aggregate(count=kept[0], people=kept[1])
        return [conversations_kept(**found)] if found["count"] else []

    @admin.action(description="Enable selected applications", permissions=("change",))
    def enable(self, request: HttpRequest, applications: QuerySet[Application]) -> None:
        self.switch(request, applications, on=True)

    @admin.action(description="Disable selected applications", permissions=("change",))
    def disable(self, request: HttpRequest, applications: QuerySet[Application]) -> None:
        self.switch(request, applications, on=False)

    @admin.action(description="Archive selected applications", permissions=("change",))
    def archive_selected(self, request: HttpRequest, applications: QuerySet[Application]) -> None:
        owned = [row for row in applications if self.may_archive(request, row)]
        for row in owned:
            archive(row)
        self.message_user(request, f"Archived: {len(owned)}. All that belongs to them stays.")

    def switch(self, request: HttpRequest, rows: QuerySet[Application], *, on: bool) -> None:
        usable = rows.filter(archived_at=None, live_number__gt=0)
        numbers = edited(request).filter(pk__in=usable.values("pk")).order_by().values("pk")
        count = update_rows(Application.objects.filter(pk__in=numbers), is_enabled=on)
        self.message_user(request, f"{'Enabled' if on else 'Disabled'}: {count}.")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        if example := example_named(initial.pop("example", "")):
            shown = {name: example.fields[name] for name in WRITTEN if name in example.fields}
            return {"owner": request.user.pk, **shown, "slug": free_slug(example.key)}
        if not initial.pop("copy", ""):
            return {"owner": request.user.pk, **initial}
        original = self.copied(request)
        if original is None:
            return initial
        return {
            "title": f"{original.title} (copy)"[:200],
            "slug": free_slug(original.slug),
            "description": original.description,
            "icon": original.icon,
            "manifest": original.manifest,
            "is_enabled": original.is_enabled,
            "is_public": original.is_public,
            "is_shared": original.is_shared,
            "owner": request.user.pk,
        }

    def copied(self, request: HttpRequest) -> Application | None:
        """The row that the address names as the original of a new one."""
        number = request.GET.get("copy", "")
        original: Application | None = self.get_object(request, number) if number else None
        may_view = original is not None and self.has_view_permission(request, original)
        return original if may_view else None

    def form_attributes(self, request: HttpRequest, obj: Application | None) -> dict[str, Any]:
        copied = self.copied(request) if obj is None else None
        attributes = {**super().form_attributes(request, obj), "copied": copied}
        if request.resolver_match and request.resolver_match.url_name == self.url_name("restore"):
            return {**attributes, "is_of_live": True}
        draft = stored_draft(obj) if obj is not None else ApplicationDraft()
        if draft.pk and request.method == "GET":
            written = {name: getattr(draft, name) for name in WRITTEN}
            attributes["starting"] = {**attributes.get("starting", {}), **written}
        return attributes

    def restoration(
        self, request: HttpRequest, change: Change, state: Snapshot, row: Application | None
    ) -> Restoration:
        """Of what is live; what a version has of the row is not restored over a draft."""
        found = super().restoration(request, change, state, row)
        is_written = bool({*WRITTEN} & {*found.form.changed_data})
        if row is None or not is_written or not stored_draft(row).pk:
            return found
        return replace(found, problems=(*found.problems, DRAFT_FIRST))

    def save_model(self, request: HttpRequest, obj: Application, form: Any, change: bool) -> None:
        """Save the properties at once, and the rest to the draft if the form showed one."""
        user: Any = request.user
        address = address_of(request)
        changed = {*form.changed_data}
        written = {"icon" if name == "picture" else name for name in changed}.intersection(WRITTEN)
        if change and (form.is_draft or not written):
            properties = {name: getattr(obj, name) for name in changed.intersection(PROPERTIES)}
            save_properties(obj, properties, user, address=address)
            if form.is_draft and (written or not form.shows_draft):
                save_draft(obj, {name: getattr(obj, name) for name in written}, None, user)
                self.message_user(request, format_html(IN_DRAFT, self.url("publish", obj.pk)))
            self.tell_secrets(request, form)
            return
        if TWO_PEOPLE in changed and (change or obj.needs_second_publisher):
            audit_rule(obj, user, address)
        if form.is_draft:
            new_application(obj, user)
        else:
            super().save_model(request, obj, form, change)

    def save_related(
        self, request: HttpRequest, form: ModelForm[Application], formsets: Any, change: bool
    ) -> None:
        before = grants_of(form.instance)
        super().save_related(request, form, formsets, change)
        audit_grants(form.instance, before, bucket_of(request.user.pk), address_of(request))
        warnings = form.instance.review().warnings
        said = [f"{problem.path}: {problem.message}" for problem in warnings[:MOST_WARNINGS]]
        if rest := len(warnings) - len(said):
            said.append(f"And {rest} more warnings.")
        for text in said:
            self.message_user(request, text, messages.WARNING)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        page: HttpResponse = super().changelist_view(request, extra_context)
        is_told = request.method == "GET" and sees_all(request.user)
        for problem in known_problems()[:MOST_WARNINGS] if is_told else ():
            self.message_user(request, f"Not loaded: {problem}", messages.ERROR)
        return page

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **options: Any
    ) -> HttpResponse:
        row = options.get("obj")
        context["managed_directory"] = "" if row is None else managed_directory_of(row.pk)
        page: HttpResponse = super().render_change_form(request, context, **options)
        return page

    def get_urls(self) -> list[URLPattern]:
        files = require_http_methods(["GET", "HEAD", "POST"])(partial(attached_files, self))
        exported = require_http_methods(["GET", "HEAD"])(partial(export, self))
        return [
            self.staff_path("check/", check_manifest, "check"),
            self.staff_path("preview/", preview_request, "preview"),
            self.staff_path("schema/", manifest_schemas, "schema"),
            self.viewer_path("<int:pk>/files/", files, "files"),
            self.viewer_path("<int:pk>/export/", exported, "export"),
            *super().get_urls(),
        ]


def conversations_kept(count: int, people: int) -> SafeString:
    text = (
        "<p>{} of {} will be kept. Their owners can read, download and delete them, but not "
        "continue them, unless the application is restored from its history.</p>"
    )
    conversations = f"{count:,} {'conversation' if count == 1 else 'conversations'}"
    return format_html(text, conversations, f"{people:,} {'person' if people == 1 else 'people'}")


def free_slug(slug: str) -> str:
    """The slug itself if it is free, `slug-copy`, or the first `slug-copy-N` that is not taken."""
    stem = f"{slug[:40]}-copy"
    taken = set(
        Application.objects.filter(slug__startswith=slug[:40]).values_list("slug", flat=True)
    )
    if slug not in taken:
        return slug
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 10_000))
    return next(candidate for candidate in candidates if candidate not in taken)
