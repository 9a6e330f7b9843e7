"""Schedules of people: operators see when they run, and pause them; what they ask is their person's."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.api.schedules import OF_OPERATORS
from apps.console.operated import of_seen
from apps.schedules.models import Schedule


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin[Schedule]):
    list_display = (
        *("application", "user", "team", "runs", "next_at", "last_at", "run_count"),
        *("made_by", "is_paused", "pause_reason"),
    )
    list_display_links = None
    list_filter = ("is_paused", "made_by", "is_alarm")
    list_select_related = ("application", "user", "team__group")
    search_fields = ("=application__slug", "=user__username")
    search_help_text = "The whole slug of an application, or the name of an account."
    ordering = ("next_at",)
    actions = ("pause_selected",)
    fields = ("application", "user", "team", "made_by", "next_at", "last_at", "run_count")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("schedules.delete_schedule")

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("schedules.change_schedule")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Schedule]:
        rows: QuerySet[Schedule] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug"))

    @admin.display(description="runs")
    def runs(self, row: Schedule) -> str:
        return row.words

    @admin.action(description="Pause until the owner lets them go on", permissions=["pause"])
    def pause_selected(self, request: HttpRequest, rows: QuerySet[Schedule]) -> None:
        going = [row for row in rows if not row.is_paused]
        for row in going:
            row.pause(OF_OPERATORS)
            row.save()
            self.log_change(request, row, "Paused.")
        self.message_user(request, f"Paused: {len(going)}.")
