"""Defines the database models for budgets and their usage.

Usage is an integer in the smallest part of the budget's unit: a token, or a billionth of a currency
unit. Databases add integers exactly.
"""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import count
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models, transaction
from django.utils import timezone
from django.utils.text import capfirst

from apps.accounts.models import ApiKey, Team
from apps.catalog.history.recorded_models import RowKind
from apps.catalog.models import Application
from apps.datetimes import zone_names
from apps.insights.budgets.windows import WindowKind, window_at
from apps.workspace.versions import VersionedRow

LONGEST_HOLDER = 255
LONGEST_NOTE = 500
PARTS = {"tokens": 1, "money": 10**9}
"""Amounts are counted in smallest parts. A token is one part, and a currency unit is a billion
parts.
"""
MOST = {"tokens": Decimal(10**12), "money": Decimal(10**9)}
"""The highest limit that a budget can have, in tokens and in currency units."""
AMOUNT: dict[str, Any] = {
    "max_digits": 19,
    "decimal_places": 6,
    "validators": [MinValueValidator(0)],
}


SUBJECTS = ("user", "team", "key", "application")
"""The fields of a budget that refer to its subject. At most one of them is set."""
FIXED = ("subject_kind", *SUBJECTS, "unit", "currency", "window", "time_zone")
"""The fields of a budget that cannot change, because the recorded usage depends on them."""
_changes = count(1)


def in_parts(amount: Decimal, unit: str) -> int:
    return int((amount * PARTS[unit]).to_integral_value(ROUND_HALF_UP))


def of_parts(parts: int, unit: str) -> Decimal:
    return Decimal(parts) / PARTS[unit]


def amount_problem(amount: Decimal, unit: str) -> str:
    """Return the reason why the amount is invalid for this unit, or "" if it is valid."""
    if amount > MOST.get(unit, amount):
        return f"The limit is {MOST[unit]:,}."
    if unit == "tokens" and amount != amount.to_integral_value():
        return "Enter a whole number of tokens."
    return ""


class Budget(VersionedRow):
    """A limit on tokens or money, per time window or per run.

    Without a user, team, key or application, the budget applies to each subject of its kind
    separately. For the kind `run`, `application` is the application of the runs.
    """

    newest_change: ClassVar[int] = 0
    """The number of the newest change to a budget in this process."""

    class SubjectKind(models.TextChoices):
        USER = "user", "user"
        TEAM = "team", "team"
        KEY = "key", "API key"
        APPLICATION = "application", "application"
        RUN = "run", "run"

    class Unit(models.TextChoices):
        TOKENS = "tokens"
        MONEY = "money"

    subject_kind = models.CharField("for", max_length=12, choices=SubjectKind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="Leave empty to give a separate budget to each user who has no budget of their own.",
    )
    team = models.ForeignKey(
        Team,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=(
            "Limits the usage of all members of the team together. Leave empty to give a separate budget to each team that has no budget of its own."
        ),
    )
    key = models.ForeignKey(
        ApiKey,
        verbose_name="API key",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="Leave empty to give a separate budget to each key that has no budget of its own.",
    )
    application = models.ForeignKey(
        Application,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=(
            "For run budgets only: the application that the budget limits. Leave empty to give a separate budget to each application that has no budget of its own."
        ),
    )
    unit = models.CharField(max_length=6, choices=Unit, default=Unit.TOKENS)
    currency = models.CharField(
        max_length=3,
        default="USD",
        validators=[RegexValidator("^[A-Z]{3}$", "Such as USD.")],
        help_text="Applies only to cost budgets. Costs in other currencies do not count.",
    )
    amount = models.DecimalField(
        **AMOUNT,
        help_text=(
            "After the limit is reached, all model calls are refused. Enter 0 to refuse every call."
        ),
    )
    soft_amount = models.DecimalField(
        **AMOUNT,
        null=True,
        blank=True,
        help_text=(
            "Users see the remaining amount after this much of the budget has been "
            "used. Leave empty for no warning."
        ),
    )
    window = models.CharField(
        max_length=5,
        choices=WindowKind.choices,
        blank=True,
        help_text="The interval at which the budget renews. Does not apply to run budgets.",
    )
    time_zone = models.CharField(
        max_length=64,
        default="UTC",
        help_text=(
            "The time zone that determines when days and months begin, such as Europe/Berlin."
        ),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("subject_kind", "window", "pk")

    def __str__(self) -> str:
        kind, name = self.get_subject_kind_display(), self.subject
        if self.subject_kind == self.SubjectKind.RUN:
            of = f"each run of {name}" if name else "each run"
        else:
            of = name or f"each {kind}"
        unit = "cost" if self.unit == self.Unit.MONEY else self.unit
        return capfirst(" ".join(filter(None, (self.get_window_display(), unit, "of", of))))

    def save(self, *args: Any, **options: Any) -> None:
        super().save(*args, **options)
        transaction.on_commit(self.note_change)

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        deleted = super().delete(*args, **options)
        transaction.on_commit(self.note_change)
        return deleted

    @staticmethod
    def note_change() -> None:
        """Set `newest_change` to a new number, so that cached budgets are reloaded immediately."""
        Budget.newest_change = next(_changes)

    @property
    def subject(self) -> str:
        """The username, team name, key prefix or slug of the subject, or "" for all subjects."""
        if self.user is not None:
            return str(self.user.get_username())
        if self.team is not None:
            return str(self.team)
        if self.key is not None:
            return str(self.key.prefix)
        return self.application.slug if self.application is not None else ""

    @property
    def limit(self) -> int:
        return in_parts(self.amount, self.unit)

    @property
    def soft(self) -> int | None:
        return None if self.soft_amount is None else in_parts(self.soft_amount, self.unit)

    @property
    def renews_at(self) -> datetime | None:
        return window_at(self.window, ZoneInfo(self.time_zone), timezone.now()).end

    def clean(self) -> None:
        found: dict[str, str] = {}
        is_run = self.subject_kind == self.SubjectKind.RUN
        mine = {"run": "application"}.get(self.subject_kind, self.subject_kind)
        for name in SUBJECTS:
            if name != mine and getattr(self, f"{name}_id") is not None:
                found[name] = f"Leave this field empty: the budget is for a {self.subject_kind}."
        if is_run and self.window:
            found["window"] = "Leave this field empty: each run has the whole budget for itself."
        elif not is_run and not self.window:
            found["window"] = "Choose how often the budget renews."
        if self.time_zone not in zone_names():
            found["time_zone"] = "This time zone does not exist. Enter one such as Europe/Berlin."
        found |= self.wrong_amounts()
        if not found and self.others().exists():
            found["window"] = "A budget of this kind already exists. Change that one."
        if found:
            raise ValidationError(found)

    def wrong_amounts(self) -> dict[str, str]:
        """Return the errors in the amounts, by field name. Django itself reports values that are
        not numbers.
        """
        values = {name: getattr(self, name) for name in ("amount", "soft_amount")}
        known = {
            name: value
            for name, value in values.items()
            if isinstance(value, Decimal) and value.is_finite()
        }
        found = {
            name: problem
            for name, value in known.items()
            if (problem := amount_problem(value, self.unit))
        }
        if len(known) == len(values) and known["soft_amount"] > known["amount"] >= 0:
            found.setdefault("soft_amount", "Enter up to the amount of the budget.")
        return found

    def others(self) -> models.QuerySet["Budget"]:
        """Return the budgets that conflict with this one: the same subject, unit and window."""
        names = ("subject_kind", *SUBJECTS, "unit", "currency", "window")
        same = {name: getattr(self, name) for name in names}
        return Budget.objects.filter(**same).exclude(pk=self.pk)


class BudgetWindow(models.Model):
    """The usage of a budget by one holder, such as a user, in one window.

    `holder` is the name of a `Holder` in `apps.insights.budgets.rules`. `raised` is the sum of the
    operators' overrides.
    """

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="windows")
    holder = models.CharField(max_length=LONGEST_HOLDER)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    spent = models.BigIntegerField(default=0)
    reserved = models.BigIntegerField(default=0)
    raised = models.BigIntegerField(default=0)
    unpriced = models.BigIntegerField(
        default=0, help_text="The number of calls to models that have no price."
    )
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("budget", "holder", "starts_at"), name="a_holder_has_one_window_at_a_time"
            ),
        )

    def __str__(self) -> str:
        return f"{self.holder}: {self.budget}"


class BudgetReservation(models.Model):
    """The amount that a running call reserves in a window. The process renews the reservation until
    the call ends, and then replaces it with the actual cost.
    """

    call = models.UUIDField(db_index=True)
    window = models.ForeignKey(BudgetWindow, on_delete=models.CASCADE, related_name="reservations")
    amount = models.BigIntegerField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.call)


class BudgetNotice(models.Model):
    """Records that a conversation has shown a notice about a window's soft limit."""

    window = models.ForeignKey(BudgetWindow, on_delete=models.CASCADE, related_name="notices")
    conversation = models.UUIDField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("window", "conversation"), name="a_conversation_is_told_once"
            ),
        )

    def __str__(self) -> str:
        return str(self.conversation)


class BudgetOverride(models.Model):
    """An operator's increase to the limit for one window. `by` is the operator's name."""

    window = models.ForeignKey(BudgetWindow, on_delete=models.CASCADE, related_name="overrides")
    amount = models.DecimalField(max_digits=19, decimal_places=6)
    note = models.CharField(max_length=LONGEST_NOTE)
    by = models.CharField(max_length=150)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-made_at", "-pk")

    def __str__(self) -> str:
        return f"{self.amount} by {self.by}"


BUDGET_KIND = RowKind(
    Budget,
    (
        *("subject_kind", "user_id", "team_id", "key_id", "application_id"),
        *("unit", "currency", "amount", "soft_amount", "window", "time_zone"),
    ),
    restorable=False,  # The spent amounts of a budget are deleted together with the budget.
)
