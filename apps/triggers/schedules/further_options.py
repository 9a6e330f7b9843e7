"""Groups the further options of a schedule under headings."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

EVERY = "repeats:daily,weekdays,weekly,monthly,advanced"
GROUPS: tuple[tuple[Any, Any, tuple[tuple[str, str], ...]], ...] = (
    (
        gettext_lazy("Active hours"),
        gettext_lazy(
            "The schedule runs only between these hours. The period can extend past midnight."
        ),
        (("active_from active_until", ""),),
    ),
    (
        gettext_lazy("Answers"),
        "",
        (
            ("pinned_version", ""),
            ("is_same_conversation", EVERY),
            ("unanswered", ""),
            ("unanswered_minutes", "unanswered:deny"),
        ),
    ),
    (
        gettext_lazy("Runs"),
        "",
        (
            ("missed", ""),
            ("missed_most", "missed:all"),
            ("max_runs", EVERY),
            ("is_deleted_after", "repeats:once,advanced max_runs:*"),
        ),
    ),
    (
        gettext_lazy("Budget for each run"),
        "",
        (("budget_tokens", ""), ("budget_money budget_currency", "")),
    ),
)
"""The groups of further options: their headings, their explanations, and their rows of fields. A row
is shown if one of its conditions is met: a field has one of the values, or any value (`*`).
"""


@dataclass(frozen=True, slots=True)
class FieldGroup:
    title: str
    help_text: str
    rows: list[tuple[str, list[forms.BoundField]]]
    """The rows of fields, each with the conditions under which scripts show it."""


def further_options(form: forms.BaseForm) -> list[FieldGroup]:
    return [
        FieldGroup(
            str(title),
            str(text),
            [(shown_if, [form[name] for name in names.split()]) for names, shown_if in rows],
        )
        for title, text, rows in GROUPS
    ]
