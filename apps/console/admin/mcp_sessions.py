"""The sessions of this process with MCP servers: whose they are, how they are, and a way to reset.

What is shown names hosts and programs, never what may carry a secret: no path, header or token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from apps.capabilities.mcp.administration import Session, reconnect, sessions, title_of
from apps.catalog.content.installed import installed
from apps.catalog.content.references import resolve_references
from apps.catalog.models import Application
from apps.manifest.names import localized
from apps.manifest.toolsets import DialAppToolSet, DialMcpToolSet, McpToolSet, ToolSet
from apps.manifest.validation import ManifestInvalid, read
from apps.workspace.egress.urls import AddressInvalid
from apps.workspace.local.models import McpServer

PROGRAM: Final = "stdio"
STATES = {"idle": "not started"}
"""The others are called what they are."""
ORDER = ("connected", "starting", "sign-in needed", "error", "not started")
"""Of several sessions, the state that says most about their server."""
MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class Use:
    """An application's toolset that a session is for."""

    application: Application
    toolset: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A session as a page shows it. One that `is_old` runs what its row said before."""

    id: int
    server: str
    protocol: str
    whose: str
    state: str
    since: datetime | None
    tools: tuple[str, ...]
    users: int
    opened: int
    error: str
    details: str
    failed_at: datetime | None
    is_old: bool = False
    uses: tuple[Use, ...] = ()

    @property
    def more_tools(self) -> int:
        return max(0, len(self.tools) - MOST_NAMES)

    @property
    def named_tools(self) -> tuple[str, ...]:
        return self.tools[:MOST_NAMES]


def may_administer(request: HttpRequest) -> bool:
    """A program's last words and whose sessions there are is for administrators alone."""
    user = request.user
    return bool(user.is_active and user.is_staff and user.is_superuser)


@require_safe
def show_sessions(request: HttpRequest) -> HttpResponse:
    """Raises PermissionDenied."""
    if not may_administer(request):
        raise PermissionDenied
    found = async_to_sync(sessions)()
    context = {
        **admin.site.each_context(request),
        "title": "MCP sessions",
        "opts": McpServer._meta,
        "sessions": shown_sessions(found, places=uses() if found else {}),
    }
    return TemplateResponse(request, "admin/mcp/sessions.html", context)


@require_POST
def reconnect_session(request: HttpRequest) -> HttpResponse:
    """End one session and open it anew, then go back. Raises PermissionDenied."""
    if not may_administer(request):
        raise PermissionDenied
    number = request.POST.get("session", "")
    session = async_to_sync(reconnect)(int(number)) if number.isdecimal() else None
    if session is None:
        messages.warning(request, "This session is gone. It is opened anew when it is needed.")
    elif session.state == "connected":
        count = "1 tool" if len(session.tools) == 1 else f"{len(session.tools)} tools"
        messages.success(request, f"{place_of(session)} is connected again and offers {count}.")
    else:
        messages.error(request, f"It cannot be connected: {told(session)}")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}):
        back = "admin:workspace_mcpserver_sessions"
    return redirect(back)


def shown_sessions(
    found: Sequence[Session],
    *,
    own: McpServer | None = None,
    places: dict[str, list[Use]] | None = None,
) -> list[Shown]:
    """`own` is the row whose sessions these are; `places` tells what servers are used for."""
    names = user_names(found)
    versions = {own.name: own.version} if own is not None else program_versions()
    return [
        Shown(
            id=session.id,
            server=place_of(session),
            protocol=session.protocol,
            whose=names.get(session.bucket, session.bucket),
            state=STATES.get(session.state, session.state),
            since=session.since,
            tools=session.tools,
            users=session.users,
            opened=session.opened,
            error=told(session),
            details=session.details,
            failed_at=session.failed_at,
            is_old=session.version is not None and session.version != versions.get(session.server),
            uses=tuple((places or {}).get(key_of(session), ())),
        )
        for session in found
    ]


def state_of(found: Iterable[Session]) -> str:
    states = {STATES.get(session.state, session.state) for session in found}
    return next((state for state in ORDER if state in states), "not started")


def place_of(session: Session) -> str:
    """A program's name, or the host of an address, whose path may be a secret."""
    return session.server if session.protocol == PROGRAM else urlsplit(session.server).netloc


def told(session: Session) -> str:
    return session.error.replace(session.server, place_of(session))


def user_names(found: Iterable[Session]) -> dict[str, str]:
    """By bucket: how the people are called whose sessions these are."""
    numbers = {
        session.bucket.removeprefix("user-"): session.bucket
        for session in found
        if session.bucket.startswith("user-") and session.bucket[5:].isdecimal()
    }
    rows = User.objects.filter(pk__in=numbers).values_list("pk", "username")
    return {numbers[str(pk)]: name for pk, name in rows}


def program_versions() -> dict[str, int]:
    return dict(McpServer.objects.values_list("name", "version"))


# --- What sessions are for ------------------------------------------------------------------


def key_of(session: Session) -> str:
    return key(session.protocol == PROGRAM, session.server)


def key(is_program: bool, title: str) -> str:
    return f"{'program' if is_program else 'address'} {unquote(title)}"


def uses() -> dict[str, list[Use]]:
    """Which toolsets of enabled applications lead to which server, by `key`."""
    found: dict[str, list[Use]] = {}
    for application in Application.objects.filter(is_enabled=True):
        for toolset in toolsets_of(application):
            if name := server_of(toolset):
                found.setdefault(name, []).append(Use(application, label_of(toolset)))
    return found


def toolsets_of(application: Application) -> tuple[ToolSet, ...]:
    try:
        manifest = read(
            application.manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        )
    except ManifestInvalid:
        return ()  # no run of it opens anything
    preview = settings.ENABLE_PREVIEW_FEATURES
    return resolve_references(manifest, installed(), preview=preview).manifest.tool_sets


def server_of(toolset: ToolSet) -> str:
    """The `key` of its server, "" for a toolset that has none."""
    match toolset:
        case McpToolSet(enabled=True):
            info = toolset.mcp_server_info
            try:
                return key(info.protocol == PROGRAM, title_of(info))
            except AddressInvalid:
                return ""
        case DialMcpToolSet(enabled=True):
            return in_dial(toolset.id)
        case DialAppToolSet(enabled=True):
            return in_dial(toolset.deployment_id)
        case _:
            return ""


def in_dial(identifier: str) -> str:
    base = settings.DIAL_URL
    return key(False, f"{base}/v1/toolset/{identifier}/mcp") if base else ""


def label_of(toolset: Any) -> str:
    return localized(toolset.name) or toolset.type
