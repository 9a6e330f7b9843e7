"""Lists the setup steps for a new installation: connect a model, create an application, and talk to
it.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Exists, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext

from apps.catalog.models import Application
from apps.conversations.models import Conversation
from apps.workspace.local.deployments.deployment import Deployment


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A setup step."""

    name: str
    title: str
    text: str
    link: str
    """The URL of the step, or empty if the user lacks the permission or an earlier step is
    incomplete.
    """
    is_done: bool


def first_steps(
    user: Any, applications: QuerySet[Application], *, uses_demo: bool = False
) -> list[FirstStep]:
    """Return the setup steps, or [] if all are complete. Runs one query.

    `applications` contains the applications that the user can see. `uses_demo` is True if the user
    has decided to use only the demo model.
    """
    models = Deployment.objects.filter(is_enabled=True, kind=Deployment.Kind.CHAT)
    own = applications.filter(imported_hash="", archived_at=None).order_by("-pk")
    live = own.filter(live_number__gt=0, is_enabled=True)
    talks = Conversation.objects.filter(application__in=live.order_by().values("pk"))
    # A query for the user can include subqueries for all other tables.
    account = get_user_model().objects.filter(pk=user.pk)
    has_model, draft, slug, has_talked = account.values_list(
        Exists(models.exclude(provider=Deployment.Provider.DEMO)),
        Subquery(own.values("pk")[:1]),
        Subquery(live.values("slug")[:1]),
        Exists(talks),
    ).get()
    has_model = has_model or uses_demo
    if has_model and slug and has_talked:
        return []
    may_add = user.has_perm("workspace.add_deployment")
    return [
        FirstStep(
            "model",
            gettext("Connect a model"),
            gettext(
                "Enter the URL and API key of a model service. Until you do, the demo model answers."
            ),
            f"{reverse('admin:workspace_deployment_add')}?next=application" if may_add else "",
            bool(has_model),
        ),
        FirstStep(
            "application",
            gettext("Create an app"),
            gettext("Choose a template, try the draft, and publish it."),
            reverse("studio:page", args=[draft]) if draft else reverse("studio-new"),
            bool(slug),
        ),
        FirstStep(
            "conversation",
            gettext("Try your app"),
            gettext("Ask your app a question."),
            reverse("chat", args=[slug]) if slug else "",
            bool(has_talked),
        ),
    ]
