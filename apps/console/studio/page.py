"""What the studio's page brings for its scripts: the draft, addresses, and facts of the application."""

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime

from apps.cases.models import Case
from apps.catalog.icons.tiles import tile_of
from apps.catalog.icons.values import COLOURS
from apps.catalog.models import Application
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.publishing_requests import is_required, publishing_refusal, request_of
from apps.catalog.versions.rebase import is_outdated
from apps.catalog.versions.states import state_of
from apps.console.operated import PUBLISH
from apps.console.studio.access_facts import access_data
from apps.console.studio.replayed_run import replayed_turns
from apps.console.studio.working_copy import working_copy
from apps.live.run_summary import RunSummary
from apps.manifest.skill_files import TEXT_ENDINGS

Facts = list[tuple[str, str]]
MOST_VERSIONS = 20
PAGES = (
    "choices",
    "check",
    "save",
    "discard",
    "answer",
    "test",
    "publish",
    "difference",
    "icon",
    "upload",
    "request",
    "return",
    "access",
    "grant",
    "people",
)
TOOL_PAGES = ("openapi", "curl", "mcp_tools", "predefined", "cards", "trial")


def page_data(request: HttpRequest, row: Application, *, can_change: bool) -> dict[str, Any]:
    return {
        **stored_data(request, row),
        "slug": row.slug,
        "tile": asdict(tile_of(row.title, row.slug, "")),
        "colours": COLOURS,
        "skill_endings": sorted(TEXT_ENDINGS),
        "may_change": can_change,
        "may_publish": can_change and request.user.has_perm(PUBLISH),
        "origin": f"{request.scheme}://{request.get_host()}",
        "urls": addresses(request, row),
        "access": access_data(request, row),
        "pages": pages(request, row),
        "replay": replayed_turns(request, row),
    }


def stored_data(request: HttpRequest, row: Application) -> dict[str, Any]:
    """The draft as it is stored, and the state of the application as the bar shows it."""
    state = state_of(row)
    kept = working_copy(row)  # after the state: a row remembers the draft that is made for it
    has_draft = kept.version > 0
    return {
        **kept.masked.as_json(),
        "version": kept.version,
        "state": {
            "name": state.value,
            "title": state.label,
            "number": row.live_number,
            "has_draft": has_draft,
            "can_discard": has_draft and row.live_number > 0,
            "can_publish": has_draft and request.user.has_perm(PUBLISH),
            **review_data(request, row),
        },
    }


def review_data(request: HttpRequest, row: Application) -> dict[str, Any]:
    """What the bar says of publishing by two people, and of a live version to take over."""
    draft = draft_of(row)
    found: dict[str, Any] = {"takes_two": is_required(row), "notice": "", "take_over": ""}
    if is_outdated(row, draft):
        found["take_over"] = reverse("admin:catalog_application_take_over", args=[row.pk])
    if not found["takes_two"]:
        return found
    asked = request_of(draft)
    found["is_requested"] = asked is not None and asked.is_open
    if asked is not None:
        is_open = asked.is_open
        found["notice"] = (
            f"{asked.person_name} requests publishing: {asked.note}"
            if is_open
            else f"{asked.returned_name} sent the draft back: {asked.returned_words}"
        )
    is_ready = not publishing_refusal(row, draft, request.user)
    found["can_publish"] = bool(draft.pk) and is_ready and request.user.has_perm(PUBLISH)
    return found


def addresses(request: HttpRequest, row: Application) -> dict[str, str]:
    may = request.user.has_perm
    own = {name: reverse(f"studio:{name}", args=[row.pk]) for name in (*PAGES, *TOOL_PAGES)}
    optional = (
        ("budgets", "insights.view_budget", "admin:insights_budget_changelist"),
        ("keys", "catalog.view_operatorkey", "admin:catalog_operatorkey_changelist"),
    )
    return {
        **own,
        "chat": row.get_absolute_url(),
        "form": reverse("admin:catalog_application_change", args=[row.pk]),
        "files": reverse("admin:catalog_application_files", args=[row.pk]),
        "schema": reverse("admin:catalog_application_schema"),
        "preview": f"{reverse('admin:catalog_application_preview')}?row={row.pk}",
        "checkText": f"{reverse('admin:catalog_application_check')}?row={row.pk}",
        "apiDocs": reverse("api-docs"),
        **{name: reverse(url) for name, permission, url in optional if may(permission)},
    }


def version_facts(row: Application) -> Facts:
    """The newest versions: their numbers, and what is said of each."""
    found = []
    for version in row.versions.select_related("author")[:MOST_VERSIONS]:
        marks = [
            *(("live",) if version.number == row.live_number else ()),
            *(("withdrawn",) if version.withdrawn_at else ()),
        ]
        when = date_format(localtime(version.published_at), "j F Y, H:i")
        name = f"@{version.number}" + (f" ({', '.join(marks)})" if marks else "")
        found.append((name, f"{version.note}. {version.who}, {when}"))
    return found


def pages(request: HttpRequest, row: Application) -> dict[str, Any]:
    """Pages about the application that the person may see, each with facts and links."""
    may = request.user.has_perm
    versions = reverse("admin:catalog_application_versions", args=[row.pk])
    links = [("All versions, to compare and bring back", versions)]
    found: dict[str, Any] = {"versions": {"facts": version_facts(row), "links": links}}
    if may("cases.view_case"):
        cases = reverse("admin:cases_case_changelist")
        link = f"{cases}?{urlencode({'application__id__exact': row.pk})}"
        count = Case.objects.filter(application=row.pk).count()
        found["cases"] = {"facts": [("Cases", f"{count:,}")], "links": [("All cases", link)]}
    if may("runs.view_runsummary"):
        rows = RunSummary.objects.filter(application=row.slug)
        failed = rows.filter(status=RunSummary.Status.FAILED).count()
        page = reverse("admin:runs_runsummary_changelist")
        query = {"application": row.slug}
        run_links = [("All runs", f"{page}?{urlencode(query)}")]
        if failed:
            only = urlencode({**query, "status": "failed"})
            run_links.append(("Failed runs", f"{page}?{only}"))
        facts = [("Runs", f"{rows.count():,}"), ("Failed", f"{failed:,}")]
        found["runs"] = {"facts": facts, "links": run_links}
    if may("insights.view_usagesum"):
        by_day = urlencode({"by": "day", "application": row.slug})
        url = f"{reverse('admin:insights_usagesum_changelist')}?{by_day}"
        found["usage"] = {"facts": [], "links": [("Tokens, cost and callers", url)]}
    return found
