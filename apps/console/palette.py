"""Searches pages and rows for the admin's command palette. Users find only what they may see."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar
from uuid import UUID

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.accounts.models import ApiKey
from apps.catalog.content.installed import installed_content
from apps.catalog.content.items import KIND_TITLES
from apps.console.admin.callers import application_titles
from apps.console.admin.cells import shown_time
from apps.console.admin.connect.mcp_sessions import may_administer
from apps.console.menu import page_url, visible_pages
from apps.console.operator_rights import may_view_applications, of_seen, visible_applications
from apps.console.run_search import of_reference
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.workspace.local.models import Deployment, McpServer, Secret

Row = TypeVar("Row", bound=Model)

MOST_OF_A_KIND = 6
LONGEST_QUERY = 200
LONGEST_DETAIL = 100
SETTINGS = (
    ("Your account", "Name, picture, email address", "/account/"),
    ("Your password and second factor", "Signing in", "/account/#second-factor"),
    ("Admin API", "Operations and objects, to read and try", "/api/docs/"),
    ("Chat page", "What users see", "/"),
)


class PaletteEntry(NamedTuple):
    title: str
    detail: str
    url: str


Finder = Callable[[HttpRequest, str], Iterator[PaletteEntry]]


@require_safe
def search_palette(request: HttpRequest) -> JsonResponse:
    """Return the results as JSON: `{"groups": [{"title", "found": [{"title", "detail",
    "url"}]}]}`.
    """
    words = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    groups = [
        {"title": title, "found": [one._asdict() for one in found]}
        for title, finder in FINDERS
        if (found := [*islice(finder(request, words), MOST_OF_A_KIND)])
    ]
    return JsonResponse({"groups": groups}, headers={"Cache-Control": "no-store"})


def pages(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    """Yield the matching pages of the menu, then the matching pages that add a row."""
    wanted = words.lower()
    for page in visible_pages(request):
        if wanted in page.title.lower():
            yield PaletteEntry(page.title, page.group, page_url(page))
    if not words:
        return
    for app in admin.site.get_app_list(request):
        for model in app["models"]:
            name = f"Add {model['model']._meta.verbose_name}"
            if model["add_url"] and wanted in name.lower():
                yield PaletteEntry(name, "Opens an empty form", model["add_url"])


def settings(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    for title, detail, url in SETTINGS:
        if words and words.lower() in f"{title} {detail}".lower():
            yield PaletteEntry(title, detail, url)


def applications(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if words and may_view_applications(request):
        rows = visible_applications(request).filter(
            Q(title__icontains=words) | Q(slug__icontains=words)
        )
        for row in some(rows.defer("manifest").order_by("title")):
            url = reverse("studio:page", args=[row.pk])
            yield PaletteEntry(row.title, row.slug, url)


def content(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if not words or not request.user.has_perm("catalog.view_contentitem"):
        return
    for kind, named in installed_content().items.items():
        for name in named:
            if words.lower() in name.lower():
                url = reverse("admin:catalog_contentitem_item", args=[kind, name])
                yield PaletteEntry(name, f"Predefined {KIND_TITLES[kind].lower()}", url)


def deployments(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if words and request.user.has_perm("workspace.view_deployment"):
        named = Q(display_name__icontains=words) | Q(deployment_id__icontains=words)
        for row in some(Deployment.objects.filter(named).order_by("display_name")):
            url = reverse("admin:workspace_deployment_change", args=[row.pk])
            yield PaletteEntry(str(row), row.deployment_id, url)


def servers(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if words and may_administer(request):
        for row in some(McpServer.objects.filter(name__icontains=words)):
            url = reverse("admin:workspace_mcpserver_change", args=[row.pk])
            yield PaletteEntry(row.name, row.command[:LONGEST_DETAIL], url)


def secrets(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if words and request.user.has_perm("workspace.view_secret"):
        for row in some(Secret.objects.filter(name__icontains=words)):
            url = reverse("admin:workspace_secret_change", args=[row.pk])
            yield PaletteEntry(row.name, row.description[:LONGEST_DETAIL], url)


def people(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if not words or not request.user.has_perm("auth.view_user"):
        return
    named = Q(username__icontains=words) | Q(email__icontains=words)
    named |= Q(first_name__icontains=words) | Q(last_name__icontains=words)
    for row in some(User.objects.filter(named).order_by("username")):
        url = reverse("admin:auth_user_change", args=[row.pk])
        yield PaletteEntry(row.username, row.get_full_name() or row.email, url)


def keys(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    if words and request.user.has_perm("accounts.view_apikey") and request.user.is_superuser:
        for row in some(ApiKey.objects.filter(Q(name__icontains=words) | Q(prefix=words))):
            url = reverse("admin:accounts_apikey_change", args=[row.prefix])
            yield PaletteEntry(row.name, "Revoked" if row.revoked else row.prefix, url)


def runs(request: HttpRequest, words: str) -> Iterator[PaletteEntry]:
    """Yield the runs with this error reference, request ID or run ID. These columns have
    indexes.
    """
    if not words or not request.user.has_perm("runs.view_runsummary"):
        return
    wanted = of_reference(words)
    try:
        wanted |= Q(pk=UUID(words))
    except ValueError:
        going: list[Run] = []
    else:
        is_seen = request.user.has_perm("runs.view_run")
        of_id = Run.objects.filter(of_seen(request), pk=UUID(words), status__in=Run.OPEN)
        going = [*of_id] if is_seen else []
    over = some(RunSummary.objects.filter(of_seen(request), wanted))
    rows: list[Run | RunSummary] = [*going, *over]
    titles = application_titles(row.application for row in rows)
    for row in rows:
        url = reverse("admin:runs_runsummary_change", args=[row.pk])
        yield PaletteEntry(
            f"{titles.get(row.application, row.application)}, {row.status}",
            shown_time(row.started_at),
            url,
        )


def some(rows: QuerySet[Row]) -> QuerySet[Row]:
    return rows[:MOST_OF_A_KIND]


FINDERS: tuple[tuple[str, Finder], ...] = (
    ("Runs", runs),
    ("Applications", applications),
    ("Pages", pages),
    ("Deployments", deployments),
    ("Predefined content", content),
    ("Users", people),
    ("MCP servers", servers),
    ("Secrets", secrets),
    ("API keys", keys),
    ("Settings", settings),
)
