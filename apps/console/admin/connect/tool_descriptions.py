"""Defines the admin pages for MCP tools with changed descriptions. Models do not see these tools
until an operator accepts the new descriptions.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from apps.catalog.history.differences import line_difference
from apps.console.admin.cells import NOTHING
from apps.console.admin.column_filter import ColumnFilter
from apps.console.admin.connect.mcp_uses import tool_names
from apps.console.admin.rows.named_rows import NamedRows, named_caller
from apps.console.admin.theme import Admin
from apps.live.consents import forget_tools
from apps.workspace.local.tools.description import ToolDescription
from apps.workspace.local.tools.description_pins import (
    ACCEPTED,
    CHANGED,
    MOST_TEXT,
    WITHHELD,
    accepted_before,
    decide_descriptions,
    original_name,
)

OUTDATED = (
    "The server has changed this description again, or it was deleted. Review the newest one."
)


class DescriptionStateFilter(ColumnFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state.value, capfirst(state.label)) for state in (CHANGED, WITHHELD, ACCEPTED)]

    def value(self) -> str:
        return super().value() or CHANGED

    def choices(self, changelist: Any) -> Iterator[Any]:
        return islice(super().choices(changelist), 1, None)  # Omit the choice "All".


@admin.register(ToolDescription)
class ToolDescriptionAdmin(NamedRows, Admin[ToolDescription]):
    list_display = ("tool", "server", "caller", "state_shown", "seen_at", "decided_at")
    list_filter = (DescriptionStateFilter,)
    caller_columns = ("listing",)
    search_fields = ("tool", "server", "=listing")
    search_help_text = "Tool, server or caller ID"
    actions = ("accept", "withhold")
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.display(description="listed for", ordering="listing")
    def caller(self, row: ToolDescription) -> str | SafeString:
        return named_caller(row, "listing") or NOTHING

    @admin.display(description="state", ordering="state")
    def state_shown(self, row: ToolDescription) -> str:
        return capfirst(row.get_state_display())

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {"title": "MCP tool descriptions to review", **(extra_context or {})}
        page: HttpResponse = super().changelist_view(request, context)
        return page

    def get_urls(self) -> list[URLPattern]:
        decision = self.viewer_path("<int:pk>/decision/", require_POST(self.decision), "decision")
        return [decision, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the tool's description and its changes. Descriptions cannot be edited."""
        row = self.get_object(request, object_id) if request.method in {"GET", "HEAD"} else None
        if row is None or not self.has_view_permission(request, row):
            page: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
            return page
        before = accepted_before(row)
        context = {
            "row": row,
            "listed_for": named_caller(row, "listing"),
            "before": before,
            "lines": line_difference(lines_of(before), lines_of(row)),
            "is_cut": len(row.text) >= MOST_TEXT,
            "may_decide": self.has_change_permission(request, row),
        }
        title = f"{row.tool} of {row.server}"
        return self.page(request, "admin/mcp/description.html", title, context)

    def decision(self, request: HttpRequest, pk: int) -> HttpResponse:
        state = WITHHELD if "withhold" in request.POST else ACCEPTED
        self.settle(request, self.get_queryset(request).filter(pk=pk), state)
        return redirect(self.url("changelist"))

    @admin.action(description="Accept", permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[ToolDescription]) -> None:
        self.settle(request, queryset, ACCEPTED)

    @admin.action(description="Keep withheld", permissions=["change"])
    def withhold(self, request: HttpRequest, queryset: QuerySet[ToolDescription]) -> None:
        self.settle(request, queryset, WITHHELD)

    def settle(self, request: HttpRequest, queryset: QuerySet[ToolDescription], state: str) -> None:
        """Store the operator's decision about the selected tool descriptions. Accepting a
        description revokes users' earlier approvals of the tool.
        """
        if not self.has_change_permission(request):
            raise PermissionDenied
        with transaction.atomic():
            rows = list(queryset)
            decide_descriptions(rows, state)
            if state == ACCEPTED:
                forget_tools(tool_names((row.server, original_name(row.tool)) for row in rows))
            for row in rows:
                self.log_change(request, row, f"Decided: {state}.")
        if not rows:
            self.message_user(request, OUTDATED, messages.WARNING)
            return
        said = "available to models again" if state == ACCEPTED else "still withheld"
        self.message_user(request, f"{', '.join(row.tool for row in rows[:5])}: {said}.")


def lines_of(row: ToolDescription | None) -> list[str]:
    return row.text.split("\n") if row is not None else []
