"""The list of applications, their form and copies, and the requests of the manifest editor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import CharField, Count, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.forms import ModelForm
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.views.decorators.http import require_GET, require_POST

from apps.catalog.history.recorder import update_rows
from apps.catalog.models import Application
from apps.catalog.review import review_text
from apps.console.admin.application_form import ApplicationForm
from apps.console.admin.document_form import DocumentAdmin
from apps.console.admin.form_schema import form_schema
from apps.console.admin.recorded import HISTORY_FIELDS
from apps.manifest.schema import manifest_schema
from apps.workspace.local.models import Secret

LIST_URL = "catalog_application_changelist"
VIEW = "catalog.view_application"
MODEL = "manifest__orchestrator__deployment__"
MOST_WARNINGS = 10


@admin.register(Application)
class ApplicationAdmin(DocumentAdmin[Application]):
    form = ApplicationForm
    list_display = ("title", "slug", "model_name", "is_enabled", "is_public", "owner", "chat")
    list_filter = ("is_enabled", "is_public", ("owner", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("title", "slug", "description")
    search_help_text = "Title, slug or description"
    prepopulated_fields = {"slug": ("title",)}
    autocomplete_fields = ("owner",)
    actions = ("enable", "disable")
    fieldsets = (
        (None, {"fields": ("title", "slug", "description")}),
        ("Manifest", {"fields": ("manifest",)}),
        ("Availability", {"fields": ("is_enabled", "is_public", "owner")}),
        HISTORY_FIELDS,
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        rows: QuerySet[Application] = super().get_queryset(request)
        if request.resolver_match is None or request.resolver_match.url_name != LIST_URL:
            return rows
        names = (KT(f"{MODEL}deployment_id"), KT(f"{MODEL}name"))
        return rows.defer("manifest").annotate(model=Coalesce(*names, output_field=CharField()))

    def consequences(self, request: HttpRequest, rows: Iterable[Application]) -> list[SafeString]:
        # Nothing but their number: conversations belong to their owners.
        kept = Count("conversations"), Count("conversations__owner", distinct=True)
        numbers = [row.pk for row in rows]
        found = Application.objects.filter(pk__in=numbers).aggregate(count=kept[0], people=kept[1])
        return [conversations_kept(**found)] if found["count"] else []

    @admin.display(description="model", ordering="model")
    def model_name(self, application: Application) -> str:
        return Truncator(getattr(application, "model", None) or "none").chars(40)

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

    def switch(self, request: HttpRequest, rows: QuerySet[Application], *, on: bool) -> None:
        count = update_rows(Application.objects.filter(pk__in=rows.values("pk")), is_enabled=on)
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
            "owner": request.user.pk,
        }

    def copied(self, request: HttpRequest) -> Application | None:
        """The row that the address names as the original of a new one."""
        number = request.GET.get("copy", "")
        original: Application | None = self.get_object(request, number) if number else None
        if original is None or not self.has_view_permission(request, original):
            return None
        return original

    def form_attributes(self, request: HttpRequest, obj: Application | None) -> dict[str, Any]:
        copied = self.copied(request) if obj is None else None
        return {**super().form_attributes(request, obj), "copied": copied}

    def save_related(
        self, request: HttpRequest, form: ModelForm[Application], formsets: Any, change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        warnings = form.instance.review().warnings
        for problem in warnings[:MOST_WARNINGS]:
            self.message_user(request, f"{problem.path}: {problem.message}", messages.WARNING)
        if len(warnings) > MOST_WARNINGS:
            rest = len(warnings) - MOST_WARNINGS
            self.message_user(request, f"And {rest} more warnings.", messages.WARNING)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("check/", view(check_manifest), name="catalog_application_check"),
            path("schema/", view(manifest_schemas), name="catalog_application_schema"),
        ]
        return [*own, *super().get_urls()]


@require_POST
def check_manifest(request: HttpRequest) -> JsonResponse:
    """The findings for a typed manifest; `row` is the application with its masked credentials."""
    if not request.user.has_perm(VIEW):
        raise PermissionDenied
    row = request.GET.get("row", "")
    stored = Application.objects.filter(pk=row) if row.isascii() and row.isdecimal() else ()
    sources = [application.manifest for application in stored]
    findings = review_text(request.POST.get("manifest", ""), sources=sources)
    return JsonResponse({"findings": [asdict(finding) for finding in findings]})


@require_GET
def manifest_schemas(request: HttpRequest) -> JsonResponse:
    """The JSON Schema of manifests, and its rewriting for the form."""
    if not request.user.has_perm(VIEW):
        raise PermissionDenied
    schema = manifest_schema(
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        secrets=list(Secret.objects.values_list("name", flat=True)),
    )
    return JsonResponse({"schema": schema, "form": form_schema(schema)})


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
