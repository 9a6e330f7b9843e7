"""The sessions of this process with MCP servers: owner, state, uses, and a button to reconnect.

The pages name hosts and programs alone: paths, headers and tokens may carry secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
ORDER = ("connected", "starting", "sign-in needed", "error", "not started")
"""The state of a server is the first of these that one of its sessions has."""


@dataclass(frozen=True, slots=True)
class Use:
    application: Application
    toolset: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """`is_old`: the program was started before its row was changed."""

    session: Session
    server: str
    owner: str
    state: str
    error: str
    is_old: bool
    uses: tuple[Use, ...]


def may_administer(request: HttpRequest) -> bool:
    # The pages show the output of programs and the names of people.
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
        "sessions": session_rows(found, uses=uses_by_server() if found else {}),
    }
    return TemplateResponse(request, "admin/mcp/sessions.html", context)


@require_POST
def reconnect_session(request: HttpRequest) -> HttpResponse:
    """Raises PermissionDenied."""
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
        messages.error(request, f"It cannot be connected: {redacted_error(session)}")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}):
        back = "admin:workspace_mcpserver_sessions"
    return redirect(back)


def session_rows(
    found: Sequence[Session],
    *,
    own: McpServer | None = None,
    uses: Mapping[str, Sequence[Use]] | None = None,
) -> list[SessionRow]:
    """`own` is the row that all sessions belong to; `uses` are by `server_key`."""
    names = user_names(found)
    servers = [own] if own is not None else McpServer.objects.only("name", "version")
    versions = {server.name: server.version for server in servers}
    return [
        SessionRow(
            session,
            server=place_of(session),
            owner=names.get(session.bucket, session.bucket),
            state=state_name(session),
            error=redacted_error(session),
            is_old=session.version is not None and session.version != versions.get(session.server),
            uses=tuple(
                (uses or {}).get(server_key(session.protocol == PROGRAM, session.server), ())
            ),
        )
        for session in found
    ]


def state_of(found: Iterable[Session]) -> str:
    states = {state_name(session) for session in found}
    return next((state for state in ORDER if state in states), "not started")


def state_name(session: Session) -> str:
    return "not started" if session.state == "idle" else session.state


def place_of(session: Session) -> str:
    """A program's name, or the host of an address, whose path may be a secret."""
    return session.server if session.protocol == PROGRAM else urlsplit(session.server).netloc


def redacted_error(session: Session) -> str:
    return session.error.replace(session.server, place_of(session))


def user_names(found: Iterable[Session]) -> dict[str, str]:
    """The names of the sessions' owners, by bucket."""
    numbers = {
        session.bucket.removeprefix("user-"): session.bucket
        for session in found
        if session.bucket.startswith("user-") and session.bucket[5:].isdecimal()
    }
    rows = User.objects.filter(pk__in=numbers).values_list("pk", "username")
    return {numbers[str(pk)]: name for pk, name in rows}


def server_key(is_program: bool, title: str) -> str:
    return f"{'program' if is_program else 'address'} {unquote(title)}"


def uses_by_server() -> dict[str, list[Use]]:
    """The toolsets of enabled applications that lead to a server, by `server_key`."""
    found: dict[str, list[Use]] = {}
    for application in Application.objects.filter(is_enabled=True):
        for toolset in toolsets_of(application):
            if name := server_of(toolset):
                use = Use(application, localized(toolset.name) or toolset.type)
                found.setdefault(name, []).append(use)
    return found


def toolsets_of(application: Application) -> tuple[Any, ...]:
    preview = settings.ENABLE_PREVIEW_FEATURES
    default = settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID
    try:
        manifest = read(application.manifest, preview=preview, default_deployment=default)
    except ManifestInvalid:
        return ()  # its runs open nothing
    return resolve_references(manifest, installed(), preview=preview).manifest.tool_sets


def server_of(toolset: ToolSet) -> str:
    """Its `server_key`, "" for a toolset without a server."""
    match toolset:
        case McpToolSet(enabled=True):
            info = toolset.mcp_server_info
            try:
                return server_key(info.protocol == PROGRAM, title_of(info))
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
    return server_key(False, f"{base}/v1/toolset/{identifier}/mcp") if base else ""
