"""Defines the page that starts a run of test cases."""

from typing import cast

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from apps.cases.background import begin_later
from apps.cases.models import Case
from apps.cases.runner import problem_text
from apps.console.admin.evaluate.case_run_form import (
    MODES,
    CaseRunForm,
    first_choices,
    model_problem,
    numbers_in,
    targets_of,
)
from apps.console.admin.theme import Admin
from apps.console.operator_rights import editable_applications
from apps.errors import QuickAppError

RUN = "cases.add_caserun"


def start_run(admin: Admin[Case], request: HttpRequest) -> HttpResponse:
    """Show the form that starts a run of test cases. A POST starts the run.

    Raises `PermissionDenied` if the user may not run test cases, and `Http404` for an unknown
    application.
    """
    if not request.user.has_perm(RUN):
        raise PermissionDenied
    slug = request.GET.get("application", "")
    if not slug:
        found = (
            editable_applications(request).filter(cases__isnull=False).distinct().order_by("title")
        )
        known = {"applications": list(found)}
        return admin.page(request, "admin/cases/choose.html", "Run test cases", known)
    application = get_object_or_404(editable_applications(request), slug=slug)
    numbers = numbers_in(request)
    rows = Case.objects.filter(application=application).order_by("name")
    chosen = rows if numbers is None else rows.filter(pk__in=numbers)
    unrecorded = chosen.filter(cassettes=None).count()
    states = targets_of(application)
    target = states[0][0] if states else ""
    initial = first_choices(application, target, is_recorded=not unrecorded)
    form = CaseRunForm(application, request.POST or None, initial=initial)
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            run = begin_later(application, cast(User, request.user), form.request(numbers))
        except QuickAppError as error:
            problem = problem_text(error)
        else:
            return redirect(reverse("admin:cases_caserun_change", args=[run.pk]))
    context = {
        "application": application,
        "form": form,
        "problem": problem,
        "modes": MODES,
        "cases": list(chosen),
        "unrecorded": unrecorded,
        "model_problem": model_problem(application, target),
    }
    title = f"Run test cases of {application.title}"
    return admin.page(request, "admin/cases/begin.html", title, context)
