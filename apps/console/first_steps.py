"""The first steps of a new installation: a model, an application and a question."""

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db.models import Exists, Subquery
from django.http import HttpRequest
from django.urls import reverse

from apps.console.operator_rights import visible_applications
from apps.live.run_summary import RunSummary
from apps.workspace.local.deployments.deployment import Deployment


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step. `link` is "" if the user may not open the page of the step."""

    title: str
    text: str
    link: str
    is_done: bool


def first_steps(request: HttpRequest) -> list[FirstStep]:
    """Return the steps, or [] once all are done or for a user who cannot create applications."""
    may = request.user.has_perm
    if not may("catalog.add_application"):
        return []
    models = Deployment.objects.filter(is_enabled=True, kind=Deployment.Kind.CHAT)
    rows = visible_applications(request).filter(imported_hash="").order_by("pk")
    runs = RunSummary.objects.filter(application__in=rows.order_by().values("slug"))
    # One query: the database can check other tables in a query on any table.
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
            "Enter the address and key of a model service, and test them. Until then, the demo model answers.",
            add,
            has_model,
        ),
        FirstStep(
            "Create an application",
            "Enter a title. Then choose the prompt, model and tools in the studio.",
            reverse("studio-new"),
            bool(own),
        ),
        FirstStep(
            "Talk to it",
            "Message the draft in the studio before other users see it.",
            reverse("studio:page", args=[own]) if own else "",
            has_talked,
        ),
    ]
