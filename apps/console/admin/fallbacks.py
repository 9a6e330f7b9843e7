"""Fallbacks in the form of a deployment: a choice in an order, and what keeps each from answering."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import Script

from apps.console.admin.lines_field import LinesField
from apps.console.admin.theme import LowTextarea
from apps.workspace.local.deployment import Deployment
from apps.workspace.local.fallback_rules import why_unfit


@dataclass(frozen=True, slots=True)
class Choice:
    """A deployment that can be chosen, or was; `problem` is why it is skipped, "" if it is not."""

    deployment_id: str
    title: str
    problem: str = ""


class FallbacksInput(LowTextarea):
    """One id in each line; with scripts a list whose entries are searched, added and moved."""

    template_name = "admin/workspace/deployment/fallbacks.html"
    choices: Sequence[Choice] = ()

    class Media:
        css = {"all": ("console/workbench.css", "console/fallbacks.css")}
        js = (Script("console/fallbacks.js", type="module"),)

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return {**context, "choices": self.choices}


class FallbacksField(LinesField):
    widget = FallbacksInput

    def offer(self, row: Deployment) -> None:
        """Let the deployments be chosen that the row can have, disabled ones too."""
        others = Deployment.objects.exclude(pk=row.pk).order_by("display_name")
        choices = [choice_of(one) for one in others if not why_unfit(one)]
        named = row.fallbacks if isinstance(row.fallbacks, list) else []
        known = {one.deployment_id for one in choices}
        gone = [name for name in named if isinstance(name, str) and name not in known]
        missing = "skipped: there is no such chat model any more"
        self.widget.choices = [*choices, *(Choice(name, name, missing) for name in gone)]


def choice_of(row: Deployment) -> Choice:
    problem = "" if row.is_enabled else "skipped: it is disabled"
    return Choice(row.deployment_id, str(row), problem)


def named_by(rows: Sequence[Deployment]) -> dict[str, list[Deployment]]:
    """The deployments that have each of these as a fallback, by its id."""
    users: dict[str, list[Deployment]] = {row.deployment_id: [] for row in rows}
    for one in Deployment.objects.exclude(fallbacks=[]):
        for name in users.keys() & set(one.fallbacks):
            users[name].append(one)
    return users
