"""Defines the admin pages that list failed attempts to run background jobs, with their errors."""

from operator import itemgetter
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.column_filter import ColumnFilter
from apps.console.admin.rows.operated_rows import show_count
from apps.console.admin.theme import ReadOnlyAdmin
from apps.console.admin.watch.background_jobs import may_operate, record, title_of
from apps.tasks.models import TaskFailure
from apps.tasks.status import queue

if apps.is_installed("procrastinate.contrib.django"):
    # The library's list has different statuses, and does not use this admin's theme.
    admin.site.unregister(apps.all_models["procrastinate"]["procrastinatejob"])


class KindFilter(ColumnFilter):
    """A list filter by the kinds of the listed jobs."""

    title = "kind"
    parameter_name = "task"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        found = TaskFailure.objects.order_by().values_list("task", flat=True).distinct()
        return sorted(((task, title_of(task)) for task in found), key=itemgetter(1))


class RetryFilter(ColumnFilter):
    title = "retries"
    parameter_name = "is_final"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("0", "Retried"), ("1", "Gave up")]


@admin.register(TaskFailure)
class TaskFailureAdmin(ReadOnlyAdmin[TaskFailure]):
    list_display = ("at", "kind", "job", "attempt", "gave_up", "summary")
    list_filter = (KindFilter, RetryFilter)
    search_fields = ("task", "=job")
    search_help_text = "Task or job ID"
    fields = ("at", "task", "job", "attempt", "is_final", "error")
    actions = ("retry",)

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return may_operate(request)

    @admin.display(description="kind", ordering="task")
    def kind(self, row: TaskFailure) -> str:
        return title_of(row.task)

    @admin.display(description="gave up", ordering="is_final", boolean=True)
    def gave_up(self, row: TaskFailure) -> bool:
        return row.is_final

    @admin.display(description="error")
    def summary(self, row: TaskFailure) -> str:
        return row.error.strip().rpartition("\n")[2][:200]

    @admin.action(description="Retry selected jobs", permissions=("retry",))
    def retry(self, request: HttpRequest, rows: QuerySet[TaskFailure]) -> None:
        jobs = sorted(set(rows.filter(is_final=True).values_list("job", flat=True)))
        retried = [job for job in jobs if queue().retry(job)]
        for job in retried:
            record(request, "job.retried", job)
        show_count(self, request, "Jobs restarted", len(retried))
