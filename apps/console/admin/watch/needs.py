"""Reads the data for the block "Needs attention" on the admin's home page, and the most used
budgets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import SignUp
from apps.catalog.content.installed import installed_content
from apps.catalog.content.review import problems_by_item
from apps.catalog.models import Application, PublishingRequest
from apps.catalog.versions.publishing_requests import requests_to_grant
from apps.catalog.versions.states import ApplicationState
from apps.console.admin.govern.budget_words import budget_title
from apps.console.operator_rights import (
    PUBLISH,
    VIEW,
    editable_applications,
    may,
    of_seen,
    sees_all,
    visible_applications,
)
from apps.feedback.models import Feedback
from apps.insights.budgets.budget_usage import BudgetStatus, open_windows
from apps.insights.budgets.models import Budget
from apps.insights.budgets.rules import Rule
from apps.live.models import Interaction, Run
from apps.live.run_summary import RunSummary

ALMOST_SPENT = 80
"""Budgets need attention when this percentage is used, because an operator may have to raise them.
"""
MOST_BUDGETS = 5

State = Literal["", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    text: str
    state: State = ""
    link: str = ""
    percent: int | None = None
    """The percentage of a budget that has been used. The page shows it as a bar."""
    low_percent: int = 0
    """The percentage at which the bar starts to warn."""


@dataclass(frozen=True, slots=True)
class RowCount:
    all: int = 0
    used: int = 0
    """The number of rows that also meet the additional condition in `count_rows`."""


UsedBudgets = Callable[[], Sequence[tuple[str, BudgetStatus]]]
"""A cached function that returns the most used budgets with their names."""
Counts = Mapping[str, RowCount]
"""The row counts that `count_rows` returns, by name. A name is missing if the user may not see its
rows.
"""


def count_rows(request: HttpRequest) -> Counts:
    """Count the drafts, sign-ups and other rows that may need attention and that the user may see.
    Runs one query.
    """
    found = [
        count_rows_of(rows(), name, used)
        for name, permission, rows, used in (
            ("drafts", VIEW, drafts(request), Q(live_number__gt=0)),
            ("sign-ups", "accounts.change_signup", SignUp.objects.all, Q(needs_approval=True)),
            ("asked", "runs.view_run", find_requested_drafts(request), Q(kind="approval")),
            ("gateway", "runs.view_run", gateway(request), Q()),
            ("requests", PUBLISH, requests(request), Q()),
            ("feedback", "feedback.view_feedback", bad_feedback(request), Q()),
        )
        if may(request, permission)
    ]
    if not found:
        return {}
    rows = found[0].union(*found[1:], all=True) if len(found) > 1 else found[0]
    return {name: RowCount(count, used) for name, count, used in rows}


def count_rows_of(rows: QuerySet[Any], name: str, used: Q) -> QuerySet[Any, Any]:
    named: QuerySet[Any, Any] = rows.order_by().annotate(named=Value(name)).values_list("named")
    in_use = Count("pk", filter=used) if used else Count("pk")
    found: QuerySet[Any, Any] = named.annotate(in_all=Count("pk"), in_use=in_use)
    return found


def seen_rows(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    return lambda: Application.objects.filter(
        pk__in=visible_applications(request).order_by().values("pk")
    )


def drafts(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    """Return a function that selects the applications with unpublished changes."""
    changed = Q(live_number=0) | Q(draft__isnull=False)
    return lambda: seen_rows(request)().filter(changed, archived_at=None)


def requests(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    """Return a function that selects the publishing requests that this user can grant."""
    return lambda: PublishingRequest.objects.filter(
        requests_to_grant(request.user),
        draft__application__in=editable_applications(request).order_by().values("pk"),
        draft__application__archived_at=None,
    )


def find_requested_drafts(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    return lambda: Interaction.objects.filter(
        of_seen(request, "run__application"),
        answer__isnull=True,
        run__status=Run.Status.WAITING,
    )


def gateway(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    running = RunSummary.Status.RUNNING
    return lambda: RunSummary.objects.filter(of_seen(request), status=running)


def bad_feedback(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    """Return a function that selects the negative feedback in the state "new"."""
    new = {"state": Feedback.State.NEW, "rating": Feedback.Rating.DOWN}
    return lambda: Feedback.objects.filter(of_seen(request, "application__slug"), **new)


def needs(request: HttpRequest, counts: Counts, used: UsedBudgets) -> Iterator[Fact]:
    """Yield waiting users, nearly exhausted budgets, broken content and unpublished changes."""
    runs = f"{reverse('admin:runs_run_changelist')}?status=waiting"
    waiting = counts.get("asked", RowCount())
    if waiting.used:
        yield Fact("Waiting approvals", f"{waiting.used:,}", "bad", runs)
    if other := waiting.all - waiting.used:
        yield Fact("Other open questions", f"{other:,}", "", runs)
    yield from staff_tasks(counts)
    if request.user.has_perm("insights.view_budget") and sees_all(request.user):
        yield from spent_budgets(used)
    if request.user.has_perm("catalog.view_contentitem"):
        yield from broken_content()
    drafted = counts.get("drafts", RowCount())
    for name, count, state in (
        ("Unpublished changes", drafted.used, ApplicationState.CHANGED),
        ("Never published", drafted.all - drafted.used, ApplicationState.DRAFT),
    ):
        if count:
            url = f"{reverse('admin:catalog_application_changelist')}?{urlencode({'state': state})}"
            yield Fact(
                name, f"{count:,} {'application' if count == 1 else 'applications'}", "", url
            )


def broken_content() -> Iterator[Fact]:
    """Yield the number of predefined items with errors, and the number of content layers with
    errors.
    """
    content, url = installed_content(), reverse("admin:catalog_contentitem_changelist")
    if broken := len(problems_by_item(content)):
        yield Fact("Broken predefined content", f"{broken:,}", "bad", f"{url}?state=broken")
    if layers := len(content.missing) + len(content.problems):
        yield Fact("Content layers with errors", f"{layers:,}", "bad", url)


def staff_tasks(counts: Counts) -> Iterator[Fact]:
    applications = reverse("admin:catalog_application_changelist")
    feedback = reverse("admin:feedback_feedback_changelist")
    for name, count, url in (
        (
            "Sign-ups waiting for approval",
            counts.get("sign-ups", RowCount()).used,
            reverse("admin:accounts_signup_changelist"),
        ),
        (
            "Drafts waiting for a second user",
            counts.get("requests", RowCount()).all,
            f"{applications}?publishing=waiting",
        ),
        (
            "New negative feedback",
            counts.get("feedback", RowCount()).all,
            f"{feedback}?state__exact=new&rating__exact=down",
        ),
    ):
        if count:
            yield Fact(name, f"{count:,}", "bad", url)


def spent_budgets(used: UsedBudgets) -> Iterator[Fact]:
    """Yield the budgets that are nearly exhausted, most used first."""
    for name, one in used():
        if one.percent >= ALMOST_SPENT:
            url = reverse("admin:insights_budget_change", args=[one.rule.id])
            state: State = "bad" if one.percent >= 100 else ""
            yield Fact(name, f"{one.percent}% used", state, url)


def budgets(used: UsedBudgets) -> Iterator[Fact]:
    """Yield the most used budgets, with their usage in the current window."""
    for name, one in used():
        url = reverse("admin:insights_budget_standing", args=[one.rule.id])
        text = f"{one.percent}%, {one.amounts['left']} left"
        yield Fact(
            name,
            text,
            link=url,
            percent=min(one.percent, 100),
            low_percent=one.soft_percent,
        )


def used_budgets() -> list[tuple[str, BudgetStatus]]:
    """Return the most used budgets with their names. Runs two queries."""
    rows = Budget.objects.select_related("key", "application", "user", "team__group")
    by_id = {budget.pk: budget for budget in rows}
    if not by_id:
        return []
    found = open_windows(map(Rule.of, by_id.values()), timezone.now())
    most = sorted((one[0] for one in found.values()), key=lambda one: one.percent, reverse=True)
    return [(budget_title(by_id[one.rule.id]), one) for one in most[:MOST_BUDGETS]]
