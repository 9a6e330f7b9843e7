"""The runs of all doors in the admin: to be read, filtered and found by an error's reference."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from apps.catalog.models import Application
from apps.console.admin.cells import money
from apps.console.admin.theme import Admin
from apps.console.admin.waterfall import waterfall_of
from apps.insights.costs import costs_of_runs
from apps.live.run_summary import RunSummary


class ApplicationFilter(admin.SimpleListFilter):
    """Offers the applications of the catalog; to look for all names among the runs takes long."""

    title = parameter_name = "application"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(Application.objects.order_by("title").values_list("slug", "title"))

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[RunSummary]
    ) -> QuerySet[RunSummary]:
        return queryset if self.value() is None else queryset.filter(application=self.value())


@admin.register(RunSummary)
class RunAdmin(Admin[RunSummary]):
    list_display = (
        "started_at",
        "application",
        "door",
        "bucket",
        "status",
        "seconds",
        "model_calls",
        "tool_calls",
        "prompt_tokens",
        "completion_tokens",
        "cost",
        "error_reference",
    )
    list_filter = ("door", "status", ApplicationFilter)
    search_fields = ("=error_reference", "=application", "=bucket")
    search_help_text = "An error reference, or the whole name of an application or a caller."
    ordering = ("-started_at",)
    show_full_result_count = False
    change_form_outer_after_template = "admin/runs/waterfall.html"

    class Media:
        css = {"all": ("console/workbench.css", "console/waterfall.css")}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        seen = run is not None and self.has_view_permission(request, run)
        context = {**(extra_context or {}), "waterfall": waterfall_of(run) if seen else None}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = costs_of_runs([row.pk for row in listed.result_list])  # once for all rows
        for row in listed.result_list:
            row.costs = found[row.pk].costs if row.pk in found else {}
        return listed

    @admin.display(description="cost")
    def cost(self, run: Any) -> str:
        return money(run.costs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
