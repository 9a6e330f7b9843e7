"""Defines the form field for the ordered list of a deployment's fallbacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import Script

from apps.console.admin.rows.lines_field import LinesField
from apps.console.admin.theme import LowTextarea
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.local.deployments.fallback_rules import unfit_reason


@dataclass(frozen=True, slots=True)
class FallbackChoice:
    """A deployment in the list of possible and selected fallbacks."""

    deployment_id: str
    title: str
    problem: str = ""
    """The reason why calls skip this fallback, or ""."""


class FallbacksInput(LowTextarea):
    """A text area with one deployment ID per line. A script replaces it with a sortable list."""

    template_name = "admin/workspace/deployment/fallbacks.html"
    choices: Sequence[FallbackChoice] = ()

    class Media:
        css = {"all": ("console/pages.css", "console/connect/fallbacks.css")}
        js = (Script("console/connect/fallbacks.js", type="module"),)

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return {**context, "choices": self.choices}


class FallbacksField(LinesField):
    widget = FallbacksInput

    def offer(self, row: Deployment) -> None:
        """Offer the deployments that this deployment can fall back to, including disabled ones."""
        others = Deployment.objects.exclude(pk=row.pk).order_by("display_name")
        choices = [choice_of(one) for one in others if not unfit_reason(one)]
        named = row.fallbacks if isinstance(row.fallbacks, list) else []
        known = {one.deployment_id for one in choices}
        gone = [name for name in named if isinstance(name, str) and name not in known]
        missing = "skipped: this chat model no longer exists"
        self.widget.choices = [*choices, *(FallbackChoice(name, name, missing) for name in gone)]


def choice_of(row: Deployment) -> FallbackChoice:
    problem = "" if row.is_enabled else "skipped: disabled"
    return FallbackChoice(row.deployment_id, str(row), problem)


def named_by(rows: Sequence[Deployment]) -> dict[str, list[Deployment]]:
    """Map the ID of each deployment in `rows` to the deployments that use it as a fallback."""
    users: dict[str, list[Deployment]] = {row.deployment_id: [] for row in rows}
    for one in Deployment.objects.exclude(fallbacks=[]):
        for name in users.keys() & set(one.fallbacks):
            users[name].append(one)
    return users
