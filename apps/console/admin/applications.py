"""The list of applications, their form and copies."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import CharField, Count, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.views.decorators.http import require_http_methods

from apps.accounts.addresses import address_of
from apps.accounts.buckets import bucket_of
from apps.catalog.grants import audit_grants, grants_of
from apps.catalog.history.recorder import update_rows
from apps.catalog.models import Application, Grant
from apps.catalog.versions.publication import archive
from apps.catalog.versions.states import ApplicationState, in_state, state_of, with_drafts
from apps.console.admin.application_form import ApplicationForm
from apps.console.admin.attached_files import attached_files
from apps.console.admin.document_form import DocumentAdmin
from apps.console.admin.editor_requests import check_manifest, manifest_schemas
from apps.console.admin.grants import GrantInline
from apps.console.admin.operated_applications import OperatedApplications
from apps.console.admin.prompt_preview import preview_request
from apps.console.admin.recorded import HISTORY_FIELDS
from apps.console.admin.versions import ApplicationVersions
from apps.console.operated import edited, may_grant

LIST_URL = "catalog_application_changelist"
MODEL = "manifest__orchestrator__deployment__"
MOST_WARNINGS = 10
GRANTING = ("is_public", "is_shared", "owner")
"""Fields that say who may use an application."""


class StateFilter(admin.SimpleListFilter):
    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return ApplicationState.choices

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return in_state(queryset, self.value() or "")


@admin.register(Application)
class ApplicationAdmin(ApplicationVersions, OperatedApplications, DocumentAdmin[Application]):
    form = ApplicationForm
    change_list_template = "admin/catalog/application/change_list.html"
    list_display = (
        "title",
        "slug",
        "state",
        "model_name",
        "is_enabled",
        "for_whom",
        "owner",
        "studio",
        "chat",
    )
    list_filter = (
        StateFilter,
        "is_enabled",
        "is_public",
        "is_shared",
        ("owner", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("owner",)
    search_fields = ("title", "slug", "description")
    search_help_text = "Title, slug or description"
    prepopulated_fields = {"slug": ("title",)}
    autocomplete_fields = ("owner",)
    actions = ("enable", "disable", "archive_selected")
    fieldsets = (
        (None, {"fields": ("title", "slug", "description")}),
        ("Manifest", {"fields": ("manifest",)}),
        ("Availability", {"fields": ("is_enabled", "is_public", "is_shared", "owner")}),
        HISTORY_FIELDS,
    )
    inlines = (GrantInline,)

    class Media:
        css = {"all": ("console/workbench.css", "chat/styles/requests.css")}
        js = (forms.Script("console/prompt-preview.js", type="module"),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        rows: QuerySet[Application] = super().get_queryset(request)
        if request.resolver_match is None or request.resolver_match.url_name != LIST_URL:
            return rows
        names = (KT(f"{MODEL}deployment_id"), KT(f"{MODEL}name"))
        return (
            with_drafts(rows)
            .defer("manifest")
            .annotate(
                model=Coalesce(*names, output_field=CharField()),
                people=granted_to("user"),
                groups=granted_to("group"),
            )
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Application | None = None) -> Any:
        """For those who are no owners with the fields that say who may use it."""
        fields = super().get_readonly_fields(request, obj)
        return fields if may_grant(request, obj) else (*fields, *GRANTING)

    def consequences(self, request: HttpRequest, rows: Iterable[Application]) -> list[SafeString]:
        # Nothing but their number: conversations belong to their owners.
        kept = Count("conversations"), Count("conversations__owner", distinct=True)
        numbers = [row.pk for row in rows]
        found = Application.objects.filter(pk__in=numbers).aggregate(count=kept[0], people=kept[1])
        return [conversations_kept(**found)] if found["count"] else []

    @admin.display(description="state")
    def state(self, application: Application) -> str:
        return state_of(application).label

    @admin.display(description="model", ordering="model")
    def model_name(self, application: Application) -> str:
        return Truncator(getattr(application, "model", None) or "none").chars(40)

    @admin.display(description="for whom")
    def for_whom(self, application: Application) -> str:
        if application.is_public:
            return "everybody"
        if application.is_shared:
            return "everybody signed in"
        people, groups = getattr(application, "people", 0), getattr(application, "groups", 0)
        said = (*counted(people, "person", "people"), *counted(groups, "group", "groups"))
        return ", ".join(said) or "its owner only"

    @admin.display(description="studio")
    def studio(self, application: Application) -> SafeString:
        return format_html(
            '<a href="{}" class="text-primary-700 underline dark:text-primary-400" '
            'aria-label="Open the studio of {}">Open</a>',
            reverse("studio:page", args=[application.pk]),
            application.title,
        )

    @admin.display(description="chat")
    def chat(self, application: Application) -> SafeString | str:
        if not application.is_enabled:
            return "disabled"
        return format_html(
            '<a href="{}" class="text-primary-700 underline dark:text-primary-400" '
            'aria-label="Open {} in chat">Open</a>',
            application.get_absolute_url(),
            application.title,
        )

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
        if not initial.pop("copy", ""):
            return {"owner": request.user.pk, **initial}
        original = self.copied(request)
        if original is None:
            return initial
        return {
            "title": f"{original.title} (copy)"[:200],
            "slug": free_slug(original.slug),
            "description": original.description,
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
        return {**super().form_attributes(request, obj), "copied": copied}

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

    def get_urls(self) -> list[URLPattern]:
        files = require_http_methods(["GET", "HEAD", "POST"])(partial(attached_files, self))
        return [
            self.staff_path("check/", check_manifest, "check"),
            self.staff_path("preview/", preview_request, "preview"),
            self.staff_path("schema/", manifest_schemas, "schema"),
            self.viewer_path("<int:pk>/files/", files, "files"),
            *super().get_urls(),
        ]


def granted_to(holder: str) -> Coalesce:
    """How many people or groups have a role, in a query of an application."""
    rows = Grant.objects.filter(application=OuterRef("pk"), **{f"{holder}__isnull": False})
    count = rows.order_by().values("application").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(count), 0)


def counted(number: int, one: str, more: str) -> tuple[str, ...]:
    return (f"{number:,} {one if number == 1 else more}",) if number else ()


def conversations_kept(count: int, people: int) -> SafeString:
    text = (
        "<p>{} of {} will be kept. Their owners can read, download and delete them, but not "
        "continue them, unless the application is restored from its history.</p>"
    )
    conversations = f"{count:,} {'conversation' if count == 1 else 'conversations'}"
    return format_html(text, conversations, f"{people:,} {'person' if people == 1 else 'people'}")


def free_slug(slug: str) -> str:
    """`slug-copy`, or the first `slug-copy-N` that is not taken."""
    stem = f"{slug[:40]}-copy"
    taken = set(Application.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 10_000))
    return next(candidate for candidate in candidates if candidate not in taken)
