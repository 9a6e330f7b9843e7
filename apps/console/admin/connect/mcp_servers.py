"""Defines the admin pages for MCP servers that run as programs on this machine. Only superusers may
edit them, because the settings determine which program runs.
"""

from collections.abc import Iterable
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.caller import bucket_of
from apps.capabilities.mcp.administration import list_server, reconnect, sessions
from apps.console.admin.connect.mcp_server_form import McpServerForm
from apps.console.admin.connect.mcp_sessions import (
    may_administer,
    redacted_error,
    server_label,
    server_state,
    session_rows,
    sessions_of,
)
from apps.console.admin.connect.mcp_uses import PROGRAM, users_of_program, uses_by_server
from apps.console.admin.rows.dependents import bullet_list, dependent_lines
from apps.console.admin.rows.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.errors import QuickAppError, ToolError
from apps.integers import read_integer
from apps.manifest.toolsets.mcp import McpServerInfo
from apps.workspace.local.models import McpServer

WARNING = (
    "The program runs on this machine, with the permissions of this server and without a shell."
)


@admin.register(McpServer)
class McpServerAdmin(RecordedAdmin[McpServer]):
    form = McpServerForm
    list_display = ("name", "command", "state", "tools", "session_count", "is_enabled")
    list_filter = ("is_enabled",)
    search_fields = ("name", "command")
    search_help_text = "Name or command"
    list_before_template = "admin/mcp/before.html"
    fieldsets = (
        (None, {"fields": ("name", "is_enabled")}),
        (
            "Program",
            {"fields": ("command", "arguments", "working_directory"), "description": WARNING},
        ),
        ("Secrets", {"fields": ("new_environment", "clear_environment")}),
        HISTORY_FIELDS,
    )

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_administer(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_administer(request)

    has_add_permission = has_view_permission
    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission

    def consequences(self, request: HttpRequest, rows: Iterable[McpServer]) -> list[SafeString]:
        words = "<p>{} is used by these, which lose its tools:</p>{}"
        return [
            format_html(words, row, bullet_list(dependent_lines(request, users)))
            for row in rows
            if (users := users_of_program(row))
        ]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = async_to_sync(sessions)()  # Once for all rows.
        for row in listed.result_list:
            row.sessions = sessions_of(row, found)
        return listed

    @admin.display(description="state")
    def state(self, server: Any) -> str:
        return server_state(server, server.sessions).capitalize()

    @admin.display(description="tools")
    def tools(self, server: Any) -> str:
        counts = [len(session.tools) for session in server.sessions if session.tools]
        return str(max(counts)) if counts else "Unknown"

    @admin.display(description="sessions")
    def session_count(self, server: Any) -> int:
        return len(server.sessions)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        context = dict(extra_context or {})
        server = self.get_object(request, object_id)
        if server is not None and may_administer(request):
            found = sessions_of(server, async_to_sync(sessions)())
            context |= {"sessions": session_rows(found), "state": server_state(server, found)}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def get_urls(self) -> list[URLPattern]:
        return [
            self.viewer_path("sessions/", require_safe(self.sessions_view), "sessions"),
            self.viewer_path("sessions/reconnect/", require_POST(self.reconnect), "reconnect"),
            self.viewer_path("<int:pk>/connect/", require_POST(self.connect), "connect"),
            *super().get_urls(),
        ]

    def sessions_view(self, request: HttpRequest) -> HttpResponse:
        found = async_to_sync(sessions)()
        rows = session_rows(found, uses_by_server() if found else {})
        return self.page(request, "admin/mcp/sessions.html", "MCP sessions", {"sessions": rows})

    def reconnect(self, request: HttpRequest) -> HttpResponse:
        number = read_integer(request.POST.get("session", ""))
        session = None if number is None else async_to_sync(reconnect)(number)
        if session is None:
            gone = "This session has ended. QuickApps opens a new one when it is needed."
            self.message_user(request, gone, messages.WARNING)
        elif session.state == "connected":
            said = (
                f"{server_label(session)} was reconnected and offers {count_tools(session.tools)}."
            )
            self.message_user(request, said, messages.SUCCESS)
        else:
            failed = f"The connection failed: {redacted_error(session)}"
            self.message_user(request, failed, messages.ERROR)
        back = request.POST.get("next", "")
        is_own = url_has_allowed_host_and_scheme(back, {request.get_host()})
        return redirect(back if is_own else self.url("sessions"))

    def connect(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Start an MCP server's program for the user, and list its tools."""
        server = get_object_or_404(McpServer, pk=pk)
        asked = McpServerInfo(protocol=PROGRAM, server=server.name)
        try:
            listed = async_to_sync(list_server)(asked, bucket_of(request.user.pk))
        except (ToolError, QuickAppError) as error:
            self.message_user(request, str(error), messages.ERROR)
        except TimeoutError:
            self.message_user(request, "The server timed out.", messages.ERROR)
        else:
            said = f"{server.name} is connected and offers {count_tools(listed.tools)}."
            self.message_user(request, said)
        return redirect(self.url("change", server.pk))


def count_tools(tools: Any) -> str:
    return "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
