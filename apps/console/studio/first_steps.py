"""The way of a new installation to its first conversation: a model, an application, a question."""

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db.models import Exists, Subquery
from django.http import HttpRequest
from django.urls import reverse

from apps.console.operated import seen
from apps.live.run_summary import RunSummary
from apps.workspace.local.deployment import Deployment


@dataclass(frozen=True, slots=True)
class FirstStep:
    """`link` is "" for what the person may not do."""

    title: str
    text: str
    link: str
    is_done: bool


def first_steps(request: HttpRequest) -> list[FirstStep]:
    """The steps, or none once all are done, or for somebody who makes no applications."""
    may = request.user.has_perm
    if not may("catalog.add_application"):
        return []
    models = Deployment.objects.filter(is_enabled=True, kind=Deployment.Kind.CHAT)
    rows = seen(request).filter(imported_hash="").order_by("pk")
    runs = RunSummary.objects.filter(application__in=rows.order_by().values("slug"))
    # One query: any row can be asked about others.
    account = get_user_model().objects.filter(pk=request.user.pk or 0)
    has_model, own, has_talked = account.values_list(
        Exists(models.exclude(provider=Deployment.Provider.DEMO)),
        Subquery(rows.values("pk")[:1]),
        Exists(runs),
    ).get()
    if has_model and own and has_talked:
        return []
    add = reverse("admin:workspace_deployment_add") if may("workspace.add_deployment") else ""
    return [
        FirstStep(
            "Add a model",
            "The service that answers, its key, and a test of both. Until then a demo model answers.",
            add,
            has_model,
        ),
        FirstStep(
            "Make an application",
            "A title is enough to begin with; its prompt, model and tools come in the studio.",
            reverse("studio-new"),
            bool(own),
        ),
        FirstStep(
            "Talk to it",
            "The draft answers beside its form, before anybody else sees it.",
            reverse("studio:page", args=[own]) if own else "",
            has_talked,
        ),
    ]
