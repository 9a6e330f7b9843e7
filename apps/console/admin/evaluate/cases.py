"""Defines the admin pages for test cases."""

from functools import partial
from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from apps.cases.from_runs import RunNotReadable, case_from_run
from apps.cases.latest_results import latest_statuses
from apps.cases.models import Case, CaseSettings
from apps.catalog.models import Application
from apps.console.admin.cells import NOTHING
from apps.console.admin.evaluate.application_filter import OfApplication
from apps.console.admin.evaluate.case_form import CaseForm
from apps.console.admin.evaluate.case_run_start import RUN, start_run
from apps.console.admin.evaluate.feedback_transcripts import case_from_feedback, shared_feedback
from apps.console.admin.rows.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.admin.watch.run_contents import may_read, record_reading
from apps.console.operator_rights import (
    editable_applications,
    edits_all,
    may_rule,
    of_seen,
    sees_all,
)
from apps.console.time_cells import time_cell
from apps.integers import read_integer
from apps.live.run_summary import RunSummary

BADGE = '<span class="console-badge {}">{}</span>'
LINK = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'
FROM_RUN, FROM_FEEDBACK = "run", "feedback"
"""The query parameters with the ID of the run or feedback from which the form creates a test case.
"""


@admin.register(Case)
class CaseAdmin(RecordedAdmin[Case]):
    form = CaseForm
    list_display = ("name", "application", "last_result", "last_run")
    list_filter = (OfApplication, "is_from_real_run")
    list_select_related = ("application",)
    search_fields = ("name", "application__slug", "application__title")
    search_help_text = "Test case or application"
    fixed_fields = ("application",)
    readonly_fields = ("version", "created_at", "updated_at")
    actions = ("run_selected",)
    fieldsets = (
        (None, {"fields": ("name", "application")}),
        ("Messages", {"fields": ("messages",)}),
        ("Expectations", {"fields": ("expectations",)}),
        HISTORY_FIELDS,
    )
    list_before_template = "admin/cases/before.html"
    change_form_outer_after_template = "admin/cases/of_case.html"

    class Media:
        css = {"all": ("console/pages.css", "console/evaluate/cases.css")}

    # --- Permissions ------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Case]:
        rows: QuerySet[Case] = super().get_queryset(request)
        return rows.filter(of_seen(request, "application__slug"))

    def deletions_seen(self, request: HttpRequest) -> Q:
        return Q() if sees_all(request.user) else Q(pk__in=())

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_change_permission(request)
        return may and (obj is None or may_rule(request, obj.application))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may: bool = super().has_delete_permission(request)
        return may and (obj is None or may_rule(request, obj.application))

    def has_run_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(RUN)

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **options: Any) -> Any:
        if db_field.related_model is Application and not edits_all(request.user):
            options["queryset"] = editable_applications(request)
        return super().formfield_for_foreignkey(db_field, request, **options)

    # --- The list ---------------------------------------------------------------------------------

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        found = latest_statuses([row.pk for row in listed.result_list])  # Once for all rows.
        for row in listed.result_list:
            row.found = found.get(row.pk)
        return listed

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        rows = editable_applications(request).filter(slug=request.GET.get("application", ""))
        chosen = rows.first()
        context = {
            **(extra_context or {}),
            "chosen": chosen,
            "may_run": self.has_run_permission(request),
            "requires_cases": chosen is not None and settings_of(chosen).requires_cases,
            "may_change": self.has_change_permission(request),
        }
        page: HttpResponse = super().changelist_view(request, context)
        return page

    @admin.display(description="last result")
    def last_result(self, case: Any) -> SafeString:
        if case.found is None:
            return format_html(BADGE, "", "never run")
        kind = "console-good" if case.found.has_passed else "console-bad"
        return format_html(BADGE, kind, case.found.words)

    @admin.display(description="last run")
    def last_run(self, case: Any) -> SafeString | str:
        if case.found is None:
            return NOTHING
        url = reverse("admin:cases_caserun_change", args=[case.found.run])
        return format_html(LINK, url, time_cell(case.found.at))

    @admin.action(description="Run selected test cases…", permissions=["run"])
    def run_selected(self, request: HttpRequest, rows: QuerySet[Case]) -> HttpResponse | None:
        found = list(rows.values_list("pk", "application__slug"))
        slugs = {slug for _, slug in found}
        if len(slugs) != 1:
            self.message_user(request, "Select test cases of one application.", messages.ERROR)
            return None
        query = [("application", slugs.pop()), *(("case", str(pk)) for pk, _ in found)]
        return redirect(f"{self.url('run')}?{urlencode(query)}")

    # --- The form ---------------------------------------------------------------------------------

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        number, of_feedback = (initial.pop(name, "") for name in (FROM_RUN, FROM_FEEDBACK))
        if number or of_feedback:
            made = (
                self.made_of_run(request, number)
                if number
                else case_from_feedback(request, shared_feedback(request, of_feedback))
            )
            if made is not None:
                names = ("name", "application", "messages", "expectations")
                return {**initial, **{name: getattr(made, name) for name in names}}
        slug = initial.get("application", "")
        if slug and read_integer(str(slug)) is None:
            initial["application"] = editable_applications(request).filter(slug=slug).first()
        return initial

    def made_of_run(self, request: HttpRequest, number: str) -> Case | None:
        """Return an unsaved test case from a run, or None if its messages cannot be read. Records
        the access in the audit log.

        Raises `PermissionDenied` if the user may not read the run or edit its application, and
        `Http404` if there is no such run.
        """
        run = self.run_of(request, number)
        record_reading(request, run, "a test case made from it", is_allowed=may_read(request))
        try:
            made = case_from_run(run, cast(User, request.user))
        except (RunNotReadable, Application.DoesNotExist) as error:
            told = (
                str(error) if isinstance(error, RunNotReadable) else "Its application was deleted."
            )
            self.message_user(request, told, messages.WARNING)
            return None
        if not may_rule(request, made.application):
            raise PermissionDenied
        self.message_user(
            request,
            "Nothing is saved yet. Remove private content, add expectations, and save.",
        )
        return made

    def run_of(self, request: HttpRequest, number: str) -> RunSummary:
        """Return the finished run with this ID. Raises `Http404` if there is none or the user may
        not see it.
        """
        try:
            wanted = UUID(number)
        except ValueError:
            raise Http404 from None
        return get_object_or_404(RunSummary.objects.filter(of_seen(request)), pk=wanted)

    def save_model(self, request: HttpRequest, obj: Case, form: Any, change: bool) -> None:
        number, of_feedback = (request.GET.get(name, "") for name in (FROM_RUN, FROM_FEEDBACK))
        if not change and number:
            run = self.run_of(request, number)
            if not may_read(request):
                raise PermissionDenied
            obj.source_run, obj.is_from_real_run = run.pk, True
        elif not change and of_feedback:
            obj.source_run = shared_feedback(request, of_feedback).run
            obj.is_from_real_run = True
        super().save_model(request, obj, form, change)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        case = self.get_object(request, object_id)
        results = [] if case is None else case.results.select_related("run").order_by("-pk")[:10]
        may_run = case is not None and self.has_run_permission(request)
        context = {
            **(extra_context or {}),
            "case": case,
            "results": results,
            "recording": case and case.cassettes.first(),
            "may_run": may_run and may_rule(request, case.application),
        }
        page: HttpResponse = super().change_view(request, object_id, form_url, context)
        return page

    # --- A run ------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        run = require_http_methods(["GET", "HEAD", "POST"])(partial(start_run, self))
        return [
            self.staff_path("run/", run, "run"),
            self.staff_path("require/", require_POST(self.require_view), "require"),
            *super().get_urls(),
        ]

    def require_view(self, request: HttpRequest) -> HttpResponse:
        """Change whether test cases must pass before the application is published.

        Raises `PermissionDenied` if the user may not change test cases, and `Http404` for an
        unknown application.
        """
        application = get_object_or_404(
            editable_applications(request), slug=request.POST.get("application", "")
        )
        if not self.has_change_permission(request):
            raise PermissionDenied
        row = settings_of(application)
        row.requires_cases = request.POST.get("requires_cases") == "on"
        row.save()
        said = (
            "requires passing test cases" if row.requires_cases else "no longer requires test cases"
        )
        self.message_user(request, f"Publishing {application.title} {said}.")
        query = urlencode({"application": application.slug})
        return redirect(f"{self.url('changelist')}?{query}")


def settings_of(application: Application) -> CaseSettings:
    """Return the application's settings for test cases, or unsaved defaults if there are none."""
    found = CaseSettings.objects.filter(application=application).first()
    return found or CaseSettings(application=application)
