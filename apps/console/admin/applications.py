"""The list of applications, their form and copies."""

from collections.abc import Iterable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import CharField, Count, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.views.decorators.http import require_http_methods

from apps.accounts.addresses import address_of
from apps.accounts.buckets import bucket_of
from apps.catalog.application_files.managed import known_problems
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.application_files.starts import example_named
from apps.catalog.grants import audit_grants, grants_of
from apps.catalog.history.recorder import update_rows
from apps.catalog.models import Application, Grant
from apps.catalog.versions.drafts import (
    WRITTEN,
    discard_draft,
    new_application,
    save_draft,
)
from apps.catalog.versions.publication import archive
from apps.catalog.versions.states import ApplicationState, in_state, state_of, with_drafts
from apps.console.admin.application_exports import export
from apps.console.admin.application_figures import week_figures
from apps.console.admin.application_form import ApplicationForm, stored_draft
from apps.console.admin.attached_files import attached_files
from apps.console.admin.cells import NOTHING, money
from apps.console.admin.document_form import DocumentAdmin
from apps.console.admin.editor_requests import check_manifest, manifest_schemas
from apps.console.admin.grants import GrantInline
from apps.console.admin.operated_applications import OperatedApplications
from apps.console.admin.prompt_preview import preview_request
from apps.console.admin.recorded import HISTORY_FIELDS
from apps.console.admin.versions import ApplicationVersions
from apps.console.operated import edited, may_grant, sees_all

LIST_URL = "catalog_application_changelist"
MODEL = "manifest__orchestrator__deployment__"
MOST_WARNINGS = 10
GRANTING = ("is_public", "is_shared", "owner")
"""Fields that say who may use an application."""


OF_WEEK = ("week_people", "week_cost", "week_errors")
"""Columns with figures."""


class StateFilter(admin.SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state.value, str(state.label)) for state in ApplicationState]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Application]
    ) -> QuerySet[Application]:
        return in_state(queryset, self.value() or "")


@admin.register(Application)
class ApplicationAdmin(ApplicationVersions, OperatedApplications, DocumentAdmin[Application]):
    form = ApplicationForm
    change_list_template = "admin/catalog/application/change_list.html"
    list_display = (
        "titled",
        "slug",
        "model_name",
        "state",
        "is_enabled",
        "for_whom",
        "owner",
        *OF_WEEK,
        "updated_at",
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
        (None, {"fields": ("title", "slug", "description", "icon", "picture", "seen_draft")}),
        ("Manifest", {"fields": ("manifest",)}),
        ("Availability", {"fields": ("is_enabled", "is_public", "is_shared", "owner")}),
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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        rows: QuerySet[Application] = super().get_queryset(request)
        if request.resolver_match is None or request.resolver_match.url_name != LIST_URL:
            return rows
        names = (KT(f"{MODEL}deployment_id"), KT(f"{MODEL}name"))
        return with_drafts(rows.defer("manifest")).annotate(
            model=Coalesce(*names, output_field=CharField()),
            people=granted_to("user"),
            groups=granted_to("group"),
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

    def get_list_display(self, request: HttpRequest) -> Any:
        """Figures for those alone who may see them elsewhere."""
        may = all(map(request.user.has_perm, ("insights.view_usagesum", "runs.view_runsummary")))
        return [name for name in self.list_display if may or name not in OF_WEEK]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        if {*OF_WEEK} & {*listed.list_display}:
            found = week_figures([row.slug for row in listed.result_list])  # once for all rows
            for row in listed.result_list:
                row.week = found[row.slug]
        return listed

    @admin.display(description="title", ordering="title")
    def titled(self, application: Application) -> SafeString:
        tile = render_to_string("chat/tile.html", {"application": application, "size": "small"})
        return format_html('<span class="titled">{}{}</span>', tile, application.title)

    @admin.display(description="state")
    def state(self, application: Application) -> SafeString:
        found = state_of(application)
        badge = (
            '<span class="workbench-block run-state">'
            '<span class="workbench-badge workbench-{}">{}</span></span>'
        )
        kind = "good" if found is ApplicationState.LIVE else ""
        short = "Live, changed" if found is ApplicationState.CHANGED else found.label
        return format_html(badge, kind, short)

    @admin.display(description="callers, 7 days")
    def week_people(self, application: Any) -> str:
        return f"{application.week.people:,}"

    @admin.display(description="cost, 7 days")
    def week_cost(self, application: Any) -> str:
        return money(application.week.costs)

    @admin.display(description="failed, 7 days")
    def week_errors(self, application: Any) -> SafeString | str:
        rate = application.week.error_rate
        if not rate:
            return NOTHING if rate is None else "0%"
        page = reverse("admin:runs_runsummary_changelist")
        query = urlencode({"application": application.slug, "status": "failed", "hours": 168})
        link = '<a class="text-primary-700 underline dark:text-primary-400" href="{}?{}">{}</a>'
        return format_html(link, page, query, f"{rate:.1%}")

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
        if obj is not None and request.method == "GET" and "starting" not in attributes:
            draft = stored_draft(obj)
            if draft.pk:
                attributes["starting"] = {name: getattr(draft, name) for name in WRITTEN}
        return attributes

    def save_model(self, request: HttpRequest, obj: Application, form: Any, change: bool) -> None:
        if form.is_draft:
            keep_draft(obj, form, request.user)
            return
        super().save_model(request, obj, form, change)
        if form.cleaned_data.get("seen_draft"):
            discard_draft(obj)

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


def keep_draft(row: Application, form: Any, user: Any) -> None:
    """Save what is typed as a draft, and all else, such as who may use it, at once."""
    if row._state.adding:
        new_application(row, user)
        return
    stored = Application.objects.get(pk=row.pk)
    for name in {*form.changed_data} - {
        *WRITTEN,
        "picture",
        "seen_draft",
        "seen_version",
        "base_version",
    }:
        setattr(stored, name, getattr(row, name))
    stored.save()
    save_draft(stored, {name: getattr(row, name) for name in WRITTEN}, None, user)


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
    """The slug itself if it is free, `slug-copy`, or the first `slug-copy-N` that is not taken."""
    stem = f"{slug[:40]}-copy"
    taken = set(
        Application.objects.filter(slug__startswith=slug[:40]).values_list("slug", flat=True)
    )
    if slug not in taken:
        return slug
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 10_000))
    return next(candidate for candidate in candidates if candidate not in taken)
