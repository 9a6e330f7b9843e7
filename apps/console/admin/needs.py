"""What the first page of the admin counts, in one query, and what of it needs somebody."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import ApiKey, SignUp
from apps.catalog.models import Application, PublishingRequest
from apps.catalog.versions.publishing_requests import waiting_for
from apps.catalog.versions.states import ApplicationState
from apps.console.operated import PUBLISH, VIEW, edited, may, of_seen, seen, sees_all
from apps.feedback.models import Feedback
from apps.insights.budgets.models import Budget
from apps.insights.budgets.rules import Rule
from apps.insights.budgets.standings import open_windows
from apps.live.models import Interaction, Run
from apps.live.run_summary import RunSummary
from apps.workspace.local.models import Deployment

ALMOST_SPENT = 80
"""Per cent of a budget; from there on, somebody may have to raise it."""
MOST_BUDGETS = 5

State = Literal["", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    text: str
    state: State = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class RowCount:
    """How many rows there are, and how many of them are in use."""

    all: int = 0
    used: int = 0


Counts = Mapping[str, RowCount]
"""What is not in it, the person may not see, or there is none."""


def count_rows(request: HttpRequest) -> Counts:
    """In one query, of what the person may see."""
    found = [
        counted(rows(), name, used)
        for name, permission, rows, used in (
            ("applications", VIEW, seen_rows(request), Q(is_enabled=True)),
            ("drafts", VIEW, drafts(request), Q(live_number__gt=0)),
            (
                "deployments",
                "workspace.view_deployment",
                Deployment.objects.all,
                Q(is_enabled=True),
            ),
            ("keys", "accounts.view_apikey", ApiKey.objects.all, Q(revoked=False)),
            ("sign-ups", "accounts.change_signup", SignUp.objects.all, Q(needs_approval=True)),
            ("asked", "runs.view_run", asked(request), Q(kind="approval")),
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


def counted(rows: QuerySet[Any], name: str, used: Q) -> QuerySet[Any, Any]:
    named: QuerySet[Any, Any] = rows.order_by().annotate(named=Value(name)).values_list("named")
    in_use = Count("pk", filter=used) if used else Count("pk")
    found: QuerySet[Any, Any] = named.annotate(in_all=Count("pk"), in_use=in_use)
    return found


def seen_rows(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    return lambda: Application.objects.filter(pk__in=seen(request).order_by().values("pk"))


def drafts(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    """Applications with changes that nobody has published; those in use are live."""
    changed = Q(live_number=0) | Q(draft__isnull=False)
    return lambda: seen_rows(request)().filter(changed, archived_at=None)


def requests(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    """Drafts that the person can publish, because others changed them and ask for it."""
    return lambda: PublishingRequest.objects.filter(
        waiting_for(request.user),
        draft__application__in=edited(request).order_by().values("pk"),
        draft__application__archived_at=None,
    )


def asked(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    return lambda: Interaction.objects.filter(
        of_seen(request, "run__application"),
        answer__isnull=True,
        run__status=Run.Status.WAITING,
    )


def gateway(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    running = RunSummary.Status.RUNNING
    return lambda: RunSummary.objects.filter(of_seen(request), status=running)


def bad_feedback(request: HttpRequest) -> Callable[[], QuerySet[Any]]:
    """That nobody has looked at."""
    new = {"state": Feedback.State.NEW, "rating": Feedback.Rating.DOWN}
    return lambda: Feedback.objects.filter(of_seen(request, "application__slug"), **new)


def needs(request: HttpRequest, counts: Counts) -> Iterator[Fact]:
    """Who waits, what is nearly spent and what is not published yet, in two queries."""
    runs = f"{reverse('admin:runs_run_changelist')}?status=waiting"
    waiting = counts.get("asked", RowCount())
    if waiting.used:
        yield Fact("Approvals wait", f"{waiting.used:,}", "bad", runs)
    if other := waiting.all - waiting.used:
        yield Fact("Other questions wait", f"{other:,}", "", runs)
    yield from asked_of_staff(counts)
    if request.user.has_perm("insights.view_budget") and sees_all(request.user):
        yield from spent_budgets()
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


def asked_of_staff(counts: Counts) -> Iterator[Fact]:
    applications = reverse("admin:catalog_application_changelist")
    feedback = reverse("admin:feedback_feedback_changelist")
    for name, count, url in (
        (
            "Sign-ups wait for approval",
            counts.get("sign-ups", RowCount()).used,
            reverse("admin:accounts_signup_changelist"),
        ),
        (
            "Drafts wait for a second person",
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


def spent_budgets() -> Iterator[Fact]:
    """The most used first."""
    budgets = Budget.objects.select_related("key", "application", "user", "team__group")
    by_id = {budget.pk: budget for budget in budgets}
    if not by_id:
        return
    found = open_windows(map(Rule.of, by_id.values()), timezone.now())
    most = [standings[0] for standings in found.values() if standings[0].percent >= ALMOST_SPENT]
    for one in sorted(most, key=lambda one: one.percent, reverse=True)[:MOST_BUDGETS]:
        url = reverse("admin:insights_budget_change", args=[one.rule.id])
        text = f"{one.percent} % used"
        yield Fact(f"Budget: {by_id[one.rule.id]}", text, "bad" if one.percent >= 100 else "", url)
