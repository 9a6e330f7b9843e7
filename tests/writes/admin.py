"""The writes of the admin: adding, changing, deleting, restoring, its actions and its own pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.contrib.sessions.backends.base import SessionBase
from django.test import RequestFactory

from apps.accounts.arrivals import Invitation, SignUp
from apps.accounts.models import (
    ApiKey,
    ClaimMapping,
    LegalHold,
    Program,
    ProgramConnection,
    ServiceAccount,
    Team,
)
from apps.cases.models import Case, CaseRun, CaseSettings
from apps.catalog.content.models import ContentItem
from apps.catalog.models import (
    Application,
    ApplicationDraft,
    ApplicationVersion,
    OperatorKey,
    PublishingRequest,
    SystemMessage,
)
from apps.catalog.saved_prompts import SavedPrompt
from apps.console.admin.rows.recorded import RecordedAdmin
from apps.feedback.models import Feedback
from apps.insights.budgets.models import Budget
from apps.insights.models import Price
from apps.live.models import Interaction, Run
from apps.schedules.models import Schedule
from apps.triggers.models import Delivery, Subscription, Webhook
from apps.workspace.local.models import Deployment, Installation, McpServer, Secret, SharedFile
from apps.workspace.local.tools.description import ToolDescription
from tests.writes.calls import Write
from tests.writes.world import World

Fields = Mapping[str, Any]
NO_FILES = {"files-path": None, "files-text": None}
ROWS: dict[Any, tuple[str, Fields | None, Fields | None]] = {
    # The row of the world, the fields of a new row, and the changed fields of the row.
    Application: ("application", None, None),
    Budget: (
        "budget",
        {
            "subject_kind": "application",
            "application": "{w.hotel.pk}",
            "amount": "5",
            "window": "day",
        },
        {"amount": "7"},
    ),
    Case: (
        "case",
        {
            "application": "{w.application.pk}",
            "name": "Answers",
            "messages": '[{"role": "user", "text": "Hi"}]',
            "expectations": '[{"kind": "contains", "text": "hi"}]',
        },
        {"name": "Replies"},
    ),
    CaseRun: ("case_run", None, None),
    ClaimMapping: (
        "claim",
        {"provider": "keycloak", "value": "new", "group": "{w.group.pk}"},
        {"value": "newer"},
    ),
    ContentItem: (
        "item",
        {"kind": "prompt", "name": "new", "text": "New.", **NO_FILES},
        {"text": "Newer."},
    ),
    Price: (
        "price",
        {
            "deployment": "{w.deployment.pk}",
            "valid_from": "2026-02-01",
            "currency": "USD",
            "input": "1",
            "output": "2",
        },
        {"input": "3"},
    ),
    Deployment: (
        "asked",
        {"deployment_id": "new", "display_name": "New", "provider": "demo"},
        {"display_name": "Newer"},
    ),
    Feedback: ("feedback", None, {"state": "done", "note": "Mended."}),
    Invitation: ("invitation", {"email": "a@example.org"}, None),
    LegalHold: ("hold", {"user": "{w.grace.pk}", "reason": "Case 7"}, None),
    ApiKey: ("key", {"name": "new"}, {"name": "newer"}),
    OperatorKey: ("operator_key", {"name": "new", "user": "{w.operator.pk}"}, {"name": "newer"}),
    Program: (
        "program",
        {"name": "new", "type": "public", "redirect_uris": "https://tool.example/back"},
        {"name": "newer"},
    ),
    ProgramConnection: ("connection", None, None),
    McpServer: ("server", {"name": "new", "command": "true"}, {"command": "false"}),
    SavedPrompt: (
        "shared_prompt",
        {"name": "new", "title": "New", "text": "New."},
        {"title": "Newer"},
    ),
    Secret: (
        "secret",
        {"name": "new", "new_value": "v", "servers": "a.example"},
        {"description": "Newer"},
    ),
    ServiceAccount: (
        "account",
        {"username": "new", "description": "New"},
        {"description": "Newer"},
    ),
    SharedFile: (
        "shared_file",
        {"name": "new.txt", "upload": ("new.txt", b"new", "text/plain")},
        {"upload": ("new.txt", b"newer", "text/plain")},
    ),
    SystemMessage: ("message", {"text": "New", "level": "info"}, {"text": "Newer"}),
    Team: ("team", {"name": "new"}, {"visibility": "administrators"}),
    User: (
        "grace",
        {
            "username": "new",
            "password1": "a-long-password-1",
            "password2": "a-long-password-1",
            "usable_password": "true",
        },
        {"first_name": "Grace"},
    ),
    Group: ("group", {"name": "new"}, {"name": "newer"}),
    Schedule: (
        "robots_schedule",
        {
            "application": "{w.application.pk}",
            "account": "{w.account.pk}",
            "name": "New",
            "message": "Hi",
            "kind": "cron",
            "expression": "0 9 * * *",
        },
        {"name": "Newer"},
    ),
    Subscription: (
        "subscription",
        {"name": "New", "url": "https://example.org/b", "events": "run.done"},
        {"name": "Newer"},
    ),
    Webhook: (
        "webhook",
        {"name": "New", "application": "{w.application.pk}", "account": "{w.account.pk}"},
        {"name": "Newer"},
    ),
    SocialAccount: ("linked", None, None),
    SignUp: ("sign_up", None, None),
    ToolDescription: ("description", None, None),
    Delivery: ("delivery", None, None),
    Run: ("open_run", None, None),
}
OTHERS = {
    (Application, "delete_selected"): "archived",
    (Application, "enable"): "disabled",
    (Program, "unblock"): "blocked_program",
    (Schedule, "resume_selected"): "paused_schedule",
}
"""Rows of the world that these requests affect instead."""
UNCHANGED = {
    "test_connection",
    "close_breakers",
    "compare_selected",
    "run_selected",
    "remove_second_factors",
}
"""Actions that write no row of their own kind here."""


def site_pages(world: World) -> Iterator[Write]:
    """Yield adding, changing, deleting and actions of each kind, as far as its admin allows them."""
    request = RequestFactory().get("/")
    request.user, request.session = world.operator, SessionBase()
    for model, rows in admin.site._registry.items():
        if model in ROWS:
            yield from pages_of(model, rows, request, world)


def pages_of(model: Any, rows: Any, request: Any, world: World) -> Iterator[Write]:
    attribute, new, change = ROWS[model]
    index = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    page = f"{index}{{w.{attribute}.pk}}/"
    if rows.has_add_permission(request) and new is not None:
        yield Write("POST", f"{index}add/", model, new, page=f"{index}add/")
    if rows.has_change_permission(request) and change is not None:
        yield Write(
            "POST",
            f"{page}change/",
            model,
            change,
            page=f"{page}change/",
            is_like_another=new is not None,
        )
    deleted = OTHERS.get((model, "delete_selected"), attribute)
    if rows.has_delete_permission(request, getattr(world, deleted)):
        yield Write(
            "POST",
            f"{index}{{w.{deleted}.pk}}/delete/",
            model,
            {"post": "yes"},
            is_like_another=True,
        )
    if isinstance(rows, RecordedAdmin) and rows.kind.restorable:
        change_pk = f"{{w.changes[{model._meta.model_name}].pk}}"
        restore = f"{page}history/{change_pk}/restore/after/"
        restored = ApplicationDraft if model is Application else model
        yield Write("POST", restore, restored, {}, page=restore, is_like_another=True)
    for name in rows.get_actions(request) if model is not ContentItem else ():
        body = {
            "action": name,
            "_selected_action": f"{{w.{OTHERS.get((model, name), attribute)}.pk}}",
            "index": "0",
            "post": "yes",
        }
        yield Write(
            "POST",
            f"{index}#{name}",
            None if name in UNCHANGED else model,
            body,
            is_like_another=True,
        )


APPLICATION = "/admin/catalog/application/"
DRAFTED = APPLICATION + "{w.drafted.pk}/"
HOTEL = APPLICATION + "{w.hotel.pk}/"


def post(path: str, changes: Any, body: Any = None, status: int = 302, **options: Any) -> Write:
    return Write("POST", path, changes, body, status=status, **options)


OWN_PAGES = [
    post(APPLICATION + "check/", None, {"manifest": "{}"}, 200),
    post(
        APPLICATION + "preview/",
        None,
        {"manifest": "{}", "slug": "a", "title": "A", "place": "", "question": "Hi"},
        200,
    ),
    post(
        APPLICATION + "{w.guarded.pk}/versions/request/",
        PublishingRequest,
        {"note": "Please"},
        page=APPLICATION + "{w.guarded.pk}/versions/request/",
    ),
    post(APPLICATION + "{w.requested.pk}/versions/return/", PublishingRequest, {"words": "No"}),
    post(
        HOTEL + "versions/take-over/",
        ApplicationDraft,
        {"choice:title": "mine"},
        page=HOTEL + "versions/take-over/",
    ),
    post(APPLICATION + "{w.application.pk}/versions/1/draft/", ApplicationDraft, {}),
    post(
        DRAFTED + "versions/publish/",
        ApplicationVersion,
        {"note": "First"},
        page=DRAFTED + "versions/publish/",
    ),
    post(HOTEL + "versions/1/restore/", ApplicationVersion, {"note": "Back"}),
    post(HOTEL + "versions/1/withdraw/", ApplicationVersion, {}),
    post(HOTEL + "archive/", Application, {}),
    post(APPLICATION + "{w.archived.pk}/unarchive/", Application, {}),
    post(
        "/admin/cases/case/run/?application=travel",
        CaseRun,
        {"times": "1", "mode": "replay", "target": "live"},
    ),
    post(
        "/admin/cases/case/require/",
        CaseSettings,
        {"application": "travel", "requires_cases": "on"},
    ),
    post("/admin/cases/caserun/{w.case_run.pk}/stop/", CaseRun, {}),
    post(
        "/admin/catalog/contentitem/preview/",
        None,
        {"kind": "prompt", "name": "a", "text": "b"},
        200,
    ),
    post(
        "/admin/catalog/contentitem/unpublished/",
        None,
        {"application": "{w.hotel.pk}", "note": "With it"},
    ),
    post(
        "/admin/workspace/deployment/test/",
        None,
        {"deployment_id": "a", "display_name": "A", "provider": "demo"},
        200,
    ),
    post("/admin/workspace/deployment/{w.asked.pk}/models/", None, {"model": "a"}, 200),
    post("/admin/workspace/mcpserver/sessions/reconnect/", None, {"session": "1"}),
    post(
        "/admin/catalog/mcp-server/",
        ContentItem,
        {"name": "desk", "url": "https://desk.example.com/mcp", "protocol": "streamable_http"},
    ),
    post("/admin/workspace/mcpserver/{w.server.pk}/connect/", None, {}),
    post(
        "/admin/runs/run/answer/{w.asked_card.pk}/",
        Interaction,
        {"outcome": "approved"},
        page="/admin/runs/run/answer/{w.asked_card.pk}/",
    ),
    post("/admin/runs/runsummary/{w.open_run.pk}/stop/", Run, {}),
    post(
        "/admin/workspace/tooldescription/{w.description.pk}/decision/",
        ToolDescription,
        {"accept": "1"},
    ),
    post(
        "/admin/auth/user/{w.grace.pk}/password/",
        User,
        {"password1": "a-long-password-1", "password2": "a-long-password-1"},
    ),
    post("/admin/accounts/program/{w.program.pk}/renew/", Program, {}),
    post("/admin/read-only/", Installation, {"switch": "off"}),
    post("/admin/triggers/subscription/{w.subscription.pk}/secret/renew/", Subscription, {}),
    post("/admin/triggers/webhook/{w.webhook.pk}/secret/renew/", Webhook, {}),
    post(
        "/admin/password_change/",
        User,
        {
            "old_password": "a-password-for-tests",
            "new_password1": "a-long-password-1",
            "new_password2": "a-long-password-1",
        },
    ),
]


def forbidden_pages(world: World) -> Iterator[tuple[str, str]]:
    """Yield routes of the admin that nobody can use, because the rows are managed elsewhere."""
    request = RequestFactory().get("/")
    request.user, request.session = world.operator, SessionBase()
    for model, rows in admin.site._registry.items():
        index = f"admin/{model._meta.app_label}/{model._meta.model_name}/"
        is_in_studio = model is Application
        if is_in_studio or not rows.has_add_permission(request):
            yield "POST", f"{index}add/"
        if is_in_studio or not rows.has_change_permission(request):
            yield "POST", f"{index}<path:object_id>/change/"
        if not rows.has_delete_permission(request):
            yield "POST", f"{index}<path:object_id>/delete/"
