"""Describes budgets in words, with the names of users and applications."""

from decimal import Decimal

from apps.console.admin.callers import person_name
from apps.insights.budgets.models import Budget


def budget_title(budget: Budget) -> str:
    """Return the budget in words, such as `20,000 tokens for each user, daily`."""
    title = f"{limit_words(budget)} for {subject_words(budget)}"
    return f"{title}, {budget.get_window_display()}" if budget.window else title


def limit_words(budget: Budget) -> str:
    return f"{write_amount(budget.amount)} {unit_name(budget)}"


def subject_words(budget: Budget) -> str:
    kind = budget.get_subject_kind_display()
    name = subject_title(budget)
    if budget.subject_kind == Budget.SubjectKind.RUN:
        return f"each run of {name}" if name else "each run"
    return f"{kind} {name}" if name else f"each {kind}"


def subject_title(budget: Budget) -> str:
    """Return the subject's name for people, or "" if the budget applies to each subject."""
    if budget.user is not None:
        return person_name(budget.user)
    if budget.key is not None:
        return budget.key.name or budget.subject
    return budget.subject if budget.application is None else str(budget.application.title)


def unit_name(budget: Budget) -> str:
    return budget.unit if budget.unit == Budget.Unit.TOKENS else budget.currency


def write_amount(amount: Decimal) -> str:
    """Format the amount without trailing zeros."""
    return f"{amount.normalize():,f}"
