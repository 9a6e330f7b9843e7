"""Returns the data for the studio page's scripts: the draft, URLs, and facts."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse

from apps.cases.from_runs import opening_messages, turns_of
from apps.catalog.application_files.models import managed_directory_of
from apps.catalog.icons.values import COLOURS, tile_of
from apps.catalog.models import Application
from apps.catalog.versions.definitions import shown_definition
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.publishing_requests import is_required, publishing_refusal, request_of
from apps.catalog.versions.rebase import is_outdated
from apps.catalog.versions.states import application_state
from apps.console.admin.cells import shown_time
from apps.console.admin.watch.run_contents import may_read, record_reading
from apps.console.operator_rights import PUBLISH, may_archive
from apps.console.publishing_texts import PUBLISHING_TEXTS
from apps.console.studio.access_facts import access_data
from apps.console.studio.connect import connect_data
from apps.console.studio.field_labels import labels_data
from apps.console.studio.panels import panel_urls
from apps.console.studio.tool_cards import kinds_on_cards
from apps.live.run_summary import RunSummary
from apps.manifest.markdown.skill_files import TEXT_ENDINGS

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
    "file_search",
    "request",
    "return",
    "unarchive",
    "access",
    "grant",
    "people",
    "widget",
    "widget_key",
    "widget_preview",
)
LINKS = {"export": "Export", "history": "History of changes", "files": "Attached files"}
"""The application's admin pages to which the studio links, with the text of each link."""
TOOL_PAGES = ("openapi", "curl", "mcp_tools", "predefined", "cards", "trial")
REPLAY = "replay"
"""The query parameter with the ID of a run to replay on the draft."""
NOTHING_TO_REPLAY = "The run can’t be replayed, because its messages are not stored."


def page_data(request: HttpRequest, row: Application, *, can_change: bool) -> dict[str, Any]:
    return {
        **stored_data(request, row),
        "slug": row.slug,
        "tile": asdict(tile_of(row.title, row.slug, "")),
        "colours": COLOURS,
        "skill_endings": sorted(TEXT_ENDINGS),
        "upload_limit": settings.DEFAULT_FILE_LOADING_SIZE_LIMIT,
        "kinds": kinds_on_cards(),
        "labels": labels_data(),
        "may_change": can_change,
        "may_archive": may_archive(request, row),
        "may_publish": can_change and request.user.has_perm(PUBLISH),
        "publishing": PUBLISHING_TEXTS,
        "origin": f"{request.scheme}://{request.get_host()}",
        "urls": addresses(request, row),
        "access": access_data(request, row),
        "connect": connect_data(request, row),
        "general": general(request, row),
        "panels": panel_urls(request, row),
        "managed": managed_directory_of(row.pk),
        "replay": replayed_turns(request, row),
    }


def stored_data(request: HttpRequest, row: Application) -> dict[str, Any]:
    """Return the stored draft, and the application's state for the bar at the top."""
    state = application_state(row)
    # This is read after the state, because the row caches the draft that is created for it.
    draft = draft_of(row)
    has_draft = draft.version > 0
    return {
        **shown_definition(draft).as_json(),
        "version": draft.version,
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
    """Return the state of the review by a second user. `take_over` is the URL that merges a newer
    live version into the draft, or "".
    """
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
        "files": reverse("admin:catalog_application_files", args=[row.pk]),
        "schema": reverse("admin:catalog_application_schema"),
        "preview": f"{reverse('admin:catalog_application_preview')}?row={row.pk}",
        "checkText": f"{reverse('admin:catalog_application_check')}?row={row.pk}",
        "apiDocs": reverse("api-docs"),
        **{name: reverse(url) for name, permission, url in optional if may(permission)},
    }


def general(request: HttpRequest, row: Application) -> dict[str, Any]:
    """Return facts about the application, and links to actions on it."""
    kept = {name: reverse(f"admin:catalog_application_{name}", args=[row.pk]) for name in LINKS}
    if request.user.has_perm("catalog.add_application"):
        kept["clone"] = f"{reverse('studio-new')}?copy={row.pk}"
    facts = [
        ("Revision", f"{row.version:,}"),
        ("Created", shown_time(row.created_at)),
        ("Changed", shown_time(row.updated_at)),
    ]
    links = [
        (text, kept[name]) for name, text in (("clone", "Clone"), *LINKS.items()) if name in kept
    ]
    return {"facts": facts, "links": links}


def replayed_turns(request: HttpRequest, row: Application) -> list[dict[str, Any]]:
    """Return the messages from the run to replay, up to its question, or [] if there is none.

    Records the access in the audit log. Raises `PermissionDenied` if the user may not read
    contents, and `Http404` if the run does not exist.
    """
    named = request.GET.get(REPLAY, "")
    if not named:
        return []
    try:
        run = RunSummary.objects.get(pk=UUID(named), application=row.slug)
    except (ValueError, RunSummary.DoesNotExist):
        raise Http404 from None
    record_reading(request, run, "question replayed on the draft", is_allowed=may_read(request))
    if not may_read(request):
        raise PermissionDenied
    found = turns_of(opening_messages(run.pk))
    if not found:
        messages.warning(request, NOTHING_TO_REPLAY)
    return [
        {
            "role": one["role"],
            "content": one["text"],
            **({"name": one["name"]} if "name" in one else {}),
        }
        for one in found
    ]
