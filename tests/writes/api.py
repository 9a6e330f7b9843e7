"""The writes of the admin API, and of the studio, which also sends JSON."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from apps.accounts.models import ApiKey, Program, ProgramConnection, Team
from apps.cases.models import Case, CaseRun
from apps.catalog.content.models import ContentItem
from apps.catalog.icons.models import IconImage
from apps.catalog.models import (
    Application,
    ApplicationDraft,
    ApplicationVersion,
    Grant,
    PublishingRequest,
    Upload,
    Widget,
)
from apps.feedback.models import Feedback
from apps.insights.budgets.models import Budget
from apps.live.models import Run
from apps.schedules.models import Schedule
from apps.triggers.models import Subscription, Webhook
from apps.workspace.local.models import Deployment, McpServer, Secret, StoredFile
from tests.writes.calls import Write
from tests.writes.world import PNG

MANIFEST: dict[str, Any] = {
    "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
    "contexts": [],
    "tool_sets": [],
}


def send(
    method: str, path: str, changes: Any, body: Any = None, status: int = 200, **more: Any
) -> Write:
    return Write(method, f"/api/{path}", changes, body, "json", status, **more)


def rows(
    path: str, key: str, changes: Any, new: Any, change: Any, *, puts: bool = True
) -> list[Write]:
    """Yield adding, changing and deleting of one kind of row."""
    return [
        send("POST", f"{path}/", changes, new, 201),
        *(
            [send("PUT", f"{path}/{key}/", changes, {**new, **change}, is_like_another=True)]
            if puts
            else []
        ),
        send("PATCH", f"{path}/{key}/", changes, change),
        send("DELETE", f"{path}/{key}/", changes, None, 204),
    ]


APPLICATIONS = "applications/travel"
DRAFT = "applications/drafted"
API = [
    *rows(
        "applications",
        "travel",
        Application,
        {"slug": "new", "title": "New", "description": "It is new.", "manifest": MANIFEST},
        {"slug": "travel", "title": "Newer"},
    ),
    send("PUT", f"{DRAFT}/draft/", ApplicationDraft, {"title": "Other", "manifest": MANIFEST}),
    send("DELETE", "applications/hotel/draft/", ApplicationDraft, None, 204),
    send("POST", f"{DRAFT}/publish/", ApplicationVersion, {"note": "First"}),
    send(
        "POST", "applications/hotel/draft/rebase/", ApplicationDraft, {"choices": {"title": "mine"}}
    ),
    send("POST", "applications/guarded/draft/request/", PublishingRequest, {"note": "Please"}),
    send("POST", "applications/requested/draft/return/", PublishingRequest, {"words": "No"}),
    send("POST", "applications/old/erase/", Application, {"confirmation": "old"}, 204),
    send("POST", "applications/old/unarchive/", Application, {}, 204),
    send("POST", "applications/hotel/versions/1/restore/", ApplicationVersion, {"note": "Back"}),
    send("POST", "applications/hotel/versions/1/withdraw/", ApplicationVersion, {}),
    send("PUT", f"{APPLICATIONS}/grants/", Grant, [{"user": "grace", "role": "editor"}]),
    send("POST", f"{APPLICATIONS}/grants/", Grant, {"user": "grace", "role": "editor"}),
    send("DELETE", f"{APPLICATIONS}/grants/?group=readers", Grant),
    *rows(
        "budgets",
        "{w.budget.pk}",
        Budget,
        {
            "subject_kind": "application",
            "subject": "hotel",
            "amount": "5",
            "window": "day",
            "unit": "tokens",
        },
        {"subject": "travel", "amount": "7"},
    ),
    send("POST", "case-runs/", CaseRun, {"application": "travel"}, 201),
    send("POST", "case-runs/{w.case_run.pk}/stop/", CaseRun, {}),
    *rows(
        "cases",
        "{w.case.pk}",
        Case,
        {
            "application": "travel",
            "name": "Answers",
            "messages": [{"role": "user", "text": "Hello"}],
            "expectations": [{"kind": "contains", "text": "hello"}],
        },
        {"name": "Replies"},
    ),
    *rows(
        "deployments",
        "asked",
        Deployment,
        {
            "deployment_id": "new",
            "display_name": "New",
            "provider": "openai",
            "base_url": "https://127.0.0.1:1/v1",
            "context_window": 1000,
            "parameters": {"temperature": 1},
        },
        {"deployment_id": "asked", "display_name": "Newer"},
    ),
    send("PATCH", "feedback/{w.feedback.pk}/", Feedback, {"state": "done", "note": "Mended."}),
    *rows(
        "keys",
        "{w.key.prefix}",
        ApiKey,
        {
            "name": "new",
            "user": "operator",
            "applications": ["travel"],
            "requests_per_minute": 5,
            "expiry_date": "2030-01-01T00:00:00Z",
        },
        {"name": "newer"},
        puts=False,
    ),
    *rows(
        "mcp-servers",
        "local",
        McpServer,
        {"name": "new", "command": "true", "arguments": ["-a"], "environment": {"A": "b"}},
        {"name": "local", "command": "false"},
    ),
    send("DELETE", "program-connections/{w.connection.pk}/", ProgramConnection, None, 204),
    *rows(
        "programs",
        "{w.program.pk}",
        Program,
        {"name": "new", "type": "public", "redirect_uris": ["https://tool.example/back"]},
        {"name": "newer", "is_blocked": True},
        puts=False,
    ),
    send("POST", "programs/{w.program.pk}/secret/", Program, {}),
    send("POST", "runs/{w.open_run.pk}/stop/", Run, {}, 202),
    *rows(
        "secrets",
        "weather",
        Secret,
        {"name": "new", "value": "s", "description": "Of it", "servers": ["a.example"]},
        {"name": "weather", "description": "Of that", "value": "t"},
    ),
    *rows(
        "teams",
        "{w.team.pk}",
        Team,
        {
            "name": "new",
            "visibility": "members",
            "prompt": "greeting",
            "members": ["grace"],
            "administrators": ["operator"],
        },
        {"name": "newer", "visibility": "administrators"},
    ),
    send(
        "PUT",
        "teams/{w.team.pk}/members/grace/",
        User.groups.through,
        {"is_administrator": True},
    ),
    send("DELETE", "teams/{w.team.pk}/members/operator/", User.groups.through, None),
    send("PUT", "content/prompt/greeting/", ContentItem, {"text": "Say hi."}),
    send("PUT", "content/prompt/farewell/", ContentItem, {"text": "Say bye."}, 201),
    send("DELETE", "content/prompt/greeting/", ContentItem, None, 204),
    *rows(
        "webhooks",
        "{w.webhook.pk}",
        Webhook,
        {"name": "New", "application": "travel", "account": "robot", "template": "Hi"},
        {"name": "Newer"},
    ),
    send("POST", "webhooks/{w.webhook.pk}/secret/", Webhook, {}),
    *rows(
        "subscriptions",
        "{w.subscription.pk}",
        Subscription,
        {"name": "New", "url": "https://example.org/b", "events": ["run.done"]},
        {"name": "Newer"},
    ),
    send("POST", "subscriptions/{w.subscription.pk}/secret/", Subscription, {}),
    *rows(
        "schedules",
        "{w.robots_schedule.pk}",
        Schedule,
        {
            "application": "travel",
            "account": "robot",
            "name": "New",
            "message": "Hi",
            "kind": "cron",
            "expression": "0 9 * * *",
        },
        {"name": "Newer"},
        puts=False,
    ),
    send("POST", "schedules/{w.schedule.pk}/agree/", Schedule, {}),
    send("POST", "schedules/{w.schedule.pk}/take-back/", Schedule, {}),
]

OPENAPI = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {/a: {get: {operationId: a, responses: {}}}}"
TYPED = {"title": "Drafted", "description": "", "icon": "", "manifest": MANIFEST}


def studio(name: str, changes: Any, body: Any, status: int = 200, of: str = "drafted") -> Write:
    path = f"/admin/catalog/application/{{w.{of}.pk}}/studio/{name}/"
    return Write("POST", path, changes, body, "json", status)


STUDIO = [
    studio("check", None, TYPED),
    studio("save", ApplicationDraft, {**TYPED, "title": "Other", "version": 1, "base": TYPED}),
    studio("icon", IconImage, PNG),
    Write(
        "POST",
        "/admin/catalog/application/{w.drafted.pk}/studio/upload/",
        StoredFile,
        {"file": ("a.txt", b"a"), "shared": "true"},
        status=200,
    ),
    studio("access", Application, {"audience": "public"}),
    studio("grant", Grant, {"kind": "user", "name": "grace", "role": "user"}),
    studio("people", None, {"text": "gra"}),
    studio("widget", Widget, {"is_enabled": True, "origins": ["https://a.example"]}),
    studio("widget/key", Widget, {}),
    studio("discard", ApplicationDraft, {}, of="hotel"),
    studio("unarchive", Application, {}, of="archived"),
    studio("difference", None, {}),
    studio("publish", ApplicationVersion, {"note": "First"}),
    studio("request", PublishingRequest, {"note": "Please"}, of="guarded"),
    studio("return", PublishingRequest, {"words": "No"}, of="requested"),
    studio("files/search", None, {**TYPED, "q": "sea"}, status=422),  # The draft has no files.
    studio("answer", None, {**TYPED, "messages": [{"role": "user", "content": "Hi"}]}),
    studio("test", None, {"deployment_id": "demo-model"}),
    studio("tools/openapi", None, {"text": OPENAPI}),
    studio("tools/curl", None, {"text": "curl https://example.org/a"}),
    studio("tools/mcp", None, {"server": {"url": "https://127.0.0.1:1"}}, 422),
    studio("tools/cards", None, TYPED),
    studio("tools/trial", None, {**TYPED, "place": "all"}),
    Write(
        "POST",
        "/admin/catalog/application/new/",
        Application,
        {"title": "Newest", "start": "empty"},
    ),
    Write("POST", "/admin/catalog/application/new/", Upload, {"template": "document-qa"}),
]
