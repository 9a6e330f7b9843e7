"""MCP servers that are programs on this machine. Editing one decides what is executed here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse

from apps.capabilities.mcp.administration import Session, list_tools, sessions
from apps.console.admin.mcp_sessions import (
    PROGRAM,
    may_administer,
    reconnect_session,
    session_rows,
    show_sessions,
    state_of,
)
from apps.console.admin.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.admin.theme import LowTextarea, Switch
from apps.console.admin.versioned_form import VersionedForm
from apps.errors import QuickAppError, ToolError
from apps.manifest.toolsets import McpServer as Named
from apps.workspace.local.models import McpServer, is_argument
from apps.workspace.local.secrets import UnreadableSecret

NO_VARIABLES = "No variables are stored."
UNREADABLE = (
    "Variables are stored, but none of this installation's SECRET_KEY and SALT_KEY values fits "
    "them. Bring the old value back as a fallback, or type all of them again."
)
HOW = "One NAME=value in a line, or a JSON object. What is typed here replaces all that is stored."
WARNING = (
    "The program runs on this machine, with the rights of this server. No shell reads the command."
)


class SecretTextarea(LowTextarea):
    """Typed text is not shown again, not even with the errors of the form."""

    def format_value(self, value: Any) -> str:
        return ""


class ArgumentsField(forms.CharField):
    """A list of texts, one in each line, or as JSON where a text is empty or has several lines."""

    widget = LowTextarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return lines_of(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return arguments_of(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(arguments_of(data or "") != initial)


def lines_of(arguments: list[Any]) -> str:
    text = "\n".join(map(str, arguments))
    return text if arguments_of(text) == arguments else json.dumps(arguments, ensure_ascii=False)


def arguments_of(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list) and all(is_argument(one) for one in found):
        return found
    return [line for line in text.splitlines() if line.strip()]


def variables_of(text: str) -> dict[str, str]:
    """Raises `ValidationError`, without the typed text in its message."""
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise ValidationError("This begins as JSON and is none.") from None
        return dict(found)
    variables = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, sign, value = line.partition("=")
        if not line.strip():
            continue
        if not sign:
            raise ValidationError(f"Line {number} has no equals sign: write NAME=value.")
        variables[name.strip()] = value.strip()
    return variables


class McpServerForm(VersionedForm[McpServer]):
    secret_fields = {"environment": ("new_environment", "clear_environment")}
    arguments = ArgumentsField(help_text="One in a line. A list in JSON is read as such.")
    new_environment = forms.CharField(
        label="Environment",
        required=False,
        widget=SecretTextarea(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    clear_environment = forms.BooleanField(
        label="Remove all stored variables", required=False, widget=Switch
    )

    class Meta:
        model = McpServer
        fields = ()  # the admin names them

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "new_environment" in self.fields:
            self.fields["new_environment"].help_text = f"{environment_state(self.instance)} {HOW}"

    def clean_new_environment(self) -> str:
        typed: str = self.cleaned_data["new_environment"]
        return json.dumps(variables_of(typed)) if typed.strip() else ""

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.cleaned_data.get("clear_environment") and self.cleaned_data.get("new_environment"):
            self.add_error("clear_environment", "Either type variables or remove all of them.")
        return cleaned


def environment_state(server: McpServer) -> str:
    """The names of the stored variables, without their values."""
    if isinstance(server.environment, UnreadableSecret):
        return UNREADABLE
    try:
        names: Mapping[str, str] = server.parsed_environment()
    except ValueError:
        return "What is stored is not a JSON object of texts; type all variables again."
    return f"Stored: {', '.join(sorted(names))}." if names else NO_VARIABLES


@admin.register(McpServer)
class McpServerAdmin(RecordedAdmin[McpServer]):
    form = McpServerForm
    list_display = ("name", "command", "state", "tools", "session_count", "is_enabled")
    list_filter = ("is_enabled",)
    search_fields = ("name", "command")
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

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = async_to_sync(sessions)()  # once for all rows
        for row in listed.result_list:
            row.sessions = sessions_of(row, found)
        return listed

    @admin.display(description="state")
    def state(self, server: Any) -> str:
        return state_of(server.sessions) if server.is_enabled else "disabled"

    @admin.display(description="tools")
    def tools(self, server: Any) -> str:
        counts = [len(session.tools) for session in server.sessions if session.tools]
        return str(max(counts)) if counts else "not known"

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
            context |= {
                "sessions": session_rows(found, own=server),
                "state": state_of(found) if server.is_enabled else "disabled",
            }
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def get_urls(self) -> list[URLPattern]:
        def staff(view: Any) -> Any:
            return self.admin_site.admin_view(view, cacheable=False)

        name = "workspace_mcpserver"
        return [
            path("sessions/", staff(show_sessions), name=f"{name}_sessions"),
            path("sessions/reconnect/", staff(reconnect_session), name=f"{name}_reconnect"),
            path("<int:pk>/connect/", staff(self.connect), name=f"{name}_connect"),
            *super().get_urls(),
        ]

    def connect(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Start the program for this person and list its tools. Raises PermissionDenied."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not may_administer(request):
            raise PermissionDenied
        server = get_object_or_404(McpServer, pk=pk)
        asked = Named(protocol=PROGRAM, server=server.name)
        try:
            tools = async_to_sync(list_tools)(asked, f"user-{request.user.pk}")
        except (ToolError, QuickAppError) as error:
            self.message_user(request, str(error), messages.ERROR)
        except TimeoutError:
            self.message_user(request, "The server did not answer in time.", messages.ERROR)
        else:
            count = "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
            self.message_user(request, f"{server.name} is connected and offers {count}.")
        return redirect(reverse("admin:workspace_mcpserver_change", args=[server.pk]))


def sessions_of(server: McpServer, found: list[Session]) -> list[Session]:
    return [one for one in found if one.protocol == PROGRAM and one.server == server.name]
